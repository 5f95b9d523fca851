//! A page of Markdown as PDF: headings, paragraphs, lists, code and tables on numbered A4 pages, with
//! the letters embedded and the text there to be found and copied.
//!
//! Letters are set one after the other from left to right: scripts that join or turn their letters are
//! readable as text and not as print. A sign that the fonts lack is an empty box.

mod block;
mod draw;
mod layout;
mod letters;

use letters::Letters;

/// Why there is no PDF.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the PDF cannot be written: {reason}")]
pub struct PdfError {
    reason: String,
}

impl PdfError {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// The document: the same bytes for the same text. The title is what a viewer shows as the file's name.
pub fn from_markdown(title: &str, markdown: &str) -> Result<Vec<u8>, PdfError> {
    let letters = Letters::load()?;
    let lines = layout::lines(&letters, &block::blocks(markdown));
    draw::document(&letters, title, &lines)
}

#[cfg(test)]
mod tests;
