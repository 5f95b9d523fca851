//! Text and data laid out for the width of a terminal. Pure: values in, lines out.

mod json_value_layout;
mod word_wrap;

use trackway::api::{Part, PartContent};
use unicode_width::UnicodeWidthStr as _;

use crate::text_format::{format_file_label, replace_control_chars};

pub(crate) use self::{
    json_value_layout::{render_json_value, summarize_json_value},
    word_wrap::StreamingWordWrap,
};

/// Lines for a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RenderedLines {
    pub(crate) lines: Vec<String>,
    /// Something was left out.
    pub(crate) clipped: bool,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RenderLimits {
    /// Characters of one text.
    text_max: usize,
    /// Characters of one value within data.
    value_max: usize,
    /// Entries of one list or object.
    entries_max: usize,
    /// Lines of one value.
    lines_max: usize,
}

impl RenderLimits {
    /// A short form that leaves room for other output.
    pub(crate) const SHORT: Self =
        Self { text_max: TEXT_MAX, value_max: VALUE_MAX, entries_max: ENTRIES_MAX, lines_max: LINES_MAX };

    /// Everything.
    pub(crate) const UNLIMITED: Self =
        Self { text_max: usize::MAX, value_max: usize::MAX, entries_max: usize::MAX, lines_max: usize::MAX };
}

/// Limit (CLI): characters of one text at a terminal; `/show` has the rest.
const TEXT_MAX: usize = 2_000;
/// Limit (CLI): characters of one value within data at a terminal; `/show` has the rest.
const VALUE_MAX: usize = 200;
/// Limit (CLI): entries of one list or object at a terminal; `/show` has the rest.
const ENTRIES_MAX: usize = 20;
/// Limit (CLI): lines of one value at a terminal; `/show` has the rest.
const LINES_MAX: usize = 40;

/// The width of a text in columns.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Breaks text between words, so that no line is wider than `width`. A word that is wider stays whole: it
/// may be an address to copy. Line breaks and indentation are kept.
pub(crate) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    text.split('\n').flat_map(|line| wrap_line(line.trim_end(), width)).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    // Spaces within a line may be the columns of a table.
    if display_width(line) <= width {
        return vec![line.to_owned()];
    }
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let (mut lines, mut current) = (Vec::new(), indent.to_owned());
    let mut is_empty = true;
    for word in body.split_whitespace() {
        if !is_empty && display_width(&current) + 1 + display_width(word) > width {
            lines.push(std::mem::replace(&mut current, indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
    lines
}

/// The first characters of a text, and whether there were more.
fn clip_text(text: &str, characters: usize) -> (String, bool) {
    match text.char_indices().nth(characters) {
        Some((at, _)) => (format!("{}…", &text[..at]), true),
        None => (text.to_owned(), false),
    }
}

/// Text wrapped at words; data as a table or a tree, indented if text is above it.
pub(crate) fn render_wrapped_parts(parts: &[Part], width: usize, detail: RenderLimits) -> RenderedLines {
    let mut whole = RenderedLines::default();
    for part in parts {
        let indent = if whole.lines.is_empty() { "" } else { "  " };
        let rendered = match &part.content {
            PartContent::Text { text } => {
                let (text, clipped) = clip_text(text, detail.text_max);
                RenderedLines {
                    lines: wrap_text(replace_control_chars(text.trim_end()).as_str(), width),
                    clipped,
                }
            }
            PartContent::Data { data } => {
                let mut rendered = render_json_value(data, width.saturating_sub(indent.len()), detail);
                rendered.lines.iter_mut().for_each(|line| line.insert_str(0, indent));
                rendered
            }
            PartContent::File { file } => RenderedLines {
                lines: wrap_text(&replace_control_chars(&format_file_label(file)), width),
                clipped: false,
            },
        };
        whole.lines.extend(rendered.lines);
        whole.clipped |= rendered.clipped;
    }
    whole
}

#[cfg(test)]
mod tests;
