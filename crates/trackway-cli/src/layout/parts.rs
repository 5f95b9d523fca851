//! The parts of a message or artifact as lines for a terminal.

use trackway::api::{Part, PartContent};

use super::{Detail, Rendered, clip, render, wrap};
use crate::text::{file_label, printable};

/// Text wrapped at words; data as a table or a tree, a little to the right where text stands above it.
pub(crate) fn render_parts(parts: &[Part], width: usize, detail: Detail) -> Rendered {
    let mut whole = Rendered::default();
    for part in parts {
        let indent = if whole.lines.is_empty() { "" } else { "  " };
        let rendered = match &part.content {
            PartContent::Text { text } => {
                let (text, clipped) = clip(text, detail.text_max);
                Rendered { lines: wrap(printable(text.trim_end()).as_str(), width), clipped }
            }
            PartContent::Data { data } => {
                let mut rendered = render(data, width.saturating_sub(indent.len()), detail);
                rendered.lines.iter_mut().for_each(|line| line.insert_str(0, indent));
                rendered
            }
            PartContent::File { file } => {
                Rendered { lines: wrap(&printable(&file_label(file)), width), clipped: false }
            }
        };
        whole.lines.extend(rendered.lines);
        whole.clipped |= rendered.clipped;
    }
    whole
}
