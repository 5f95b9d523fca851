//! A conversation as plain text, for the model that summarises it. It is not sent as entries, because a
//! server may reject calls of tools that the request does not offer.

use std::fmt::Write as _;

use super::{BYTES_PER_TOKEN, HISTORY_TOKENS_MAX};
use crate::{ContentPiece, ConversationEntry, content_pieces::text_truncation};

/// Longest text of one entry. Long results are rarely needed in full again.
/// Limit (Agents): text of one entry of a conversation that is summarised.
const ENTRY_BYTES_MAX: usize = 8 * 1024;

/// Longest text of all entries together. The oldest entries are dropped first.
/// Limit (Agents): text of a conversation that is summarised.
const ALL_BYTES_MAX: usize = (HISTORY_TOKENS_MAX * BYTES_PER_TOKEN) as usize;

pub(super) fn render_conversation(entries: &[ConversationEntry]) -> String {
    let mut lines: Vec<String> = entries.iter().map(render_conversation_entry).collect();
    let mut bytes: usize = lines.iter().map(String::len).sum();
    let mut gone = 0;
    while bytes > ALL_BYTES_MAX && gone < lines.len() {
        bytes -= lines[gone].len();
        gone += 1;
    }
    if gone > 0 {
        lines.splice(..gone, [format!("(the oldest {gone} entries are left out)\n")]);
    }
    lines.join("\n")
}

fn render_conversation_entry(entry: &ConversationEntry) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match entry {
        ConversationEntry::User { pieces } => writeln!(text, "USER: {}", render_content_pieces(pieces)),
        ConversationEntry::Model { text: said, calls } => {
            if !said.is_empty() {
                let _ = writeln!(text, "ASSISTANT: {}", truncate_entry_text(said));
            }
            calls.iter().try_for_each(|call| {
                writeln!(
                    text,
                    "ASSISTANT calls {} with {}",
                    call.tool,
                    truncate_entry_text(&call.arguments.arguments_to_text())
                )
            })
        }
        ConversationEntry::Result { tool, pieces, failed, .. } => {
            let how = if *failed { "failed" } else { "gave" };
            writeln!(text, "TOOL {tool} {how}: {}", render_content_pieces(pieces))
        }
    };
    text
}

fn render_content_pieces(pieces: &[ContentPiece]) -> String {
    let texts = pieces.iter().map(|piece| piece.as_text().unwrap_or("(an image)"));
    truncate_entry_text(&texts.collect::<Vec<_>>().join("\n"))
}

fn truncate_entry_text(text: &str) -> String {
    text_truncation::truncate_text_with_note(text, ENTRY_BYTES_MAX)
}
