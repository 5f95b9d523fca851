//! Foreign text inside an answer: a prompt, a rule, a message of a definition. It is shown as it is, but it
//! can neither hide the tokens below it nor look like one of them.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{text::SignedTokens, token};

/// The prefix of a line that looks like a token but is not a token of this answer.
const NOT_A_TOKEN_PREFIX: &str = "(not a token of this answer) ";

/// The text with its open code block closed. A text that would hide what follows in another way, such as by
/// an open comment, gets its own code block.
pub(crate) fn close_unclosed_markdown(text: &str) -> String {
    let text = text.trim_end();
    if is_markdown_closed(text) {
        return text.to_owned();
    }
    let closed = format!("{text}\n{}", find_unclosed_fence(text));
    if is_markdown_closed(&closed) { closed } else { wrap_in_code_fence(text) }
}

/// The same in one line, for a heading.
pub(crate) fn collapse_to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text above the tokens: without the tokens, and without a line that an agent would mistake for one.
pub(crate) fn mask_tokens_in_text(text: &str, tokens: &SignedTokens) -> String {
    let mut text = text.replace(&tokens.state, "(the stateToken below)");
    if let Some(ack) = &tokens.ack {
        text = text.replace(ack, "(the ackToken below)");
    }
    prefix_token_like_lines(&text)
}

/// The text without a line that an agent would mistake for a token.
pub(crate) fn prefix_token_like_lines(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match token::looks_like_token(line) {
        true => format!("{NOT_A_TOKEN_PREFIX}{line}"),
        false => line.to_owned(),
    });
    lines.collect()
}

/// Whether a code block after this text would still be a code block.
fn is_markdown_closed(text: &str) -> bool {
    const AFTER: &str = "trackway-after\n";
    let probe = format!("{text}\n\n```\n{AFTER}```\n");
    let mut depth = 0_usize;
    let mut in_block = false;
    for event in Parser::new_ext(&probe, Options::ENABLE_TABLES) {
        match event {
            Event::Start(tag) => {
                in_block = depth == 0 && matches!(tag, Tag::CodeBlock(_));
                depth += 1;
            }
            Event::End(end) => {
                in_block &= end != TagEnd::CodeBlock;
                depth = depth.saturating_sub(1);
            }
            Event::Text(text) if in_block && &*text == AFTER => return true,
            _ => {}
        }
    }
    false
}

/// The mark of the code block that is still open at the end of the text, judged line by line.
fn find_unclosed_fence(text: &str) -> &str {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let mark = |of: char| &line[..line.len() - line.trim_start_matches(of).len()];
        let mark = if line.starts_with('~') { mark('~') } else { mark('`') };
        if mark.len() < 3 {
            continue;
        }
        open = match open {
            None => Some(mark),
            Some(fence) if mark.starts_with(fence) && line[mark.len()..].trim().is_empty() => None,
            still => still,
        };
    }
    open.unwrap_or_default()
}

/// The unchanged text in a fence that it does not contain itself.
fn wrap_in_code_fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests;
