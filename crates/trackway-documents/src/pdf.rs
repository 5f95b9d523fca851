//! A page of Markdown as PDF: headings, paragraphs, lists, code and tables on numbered A4 pages, with
//! embedded fonts and searchable text.
//!
//! Letters are placed one after the other from left to right. Text in scripts that join or reorder
//! letters can be copied, but does not print correctly. A character that the fonts lack is an empty
//! box.

mod markdown_block;
mod page_layout;
mod pdf_drawing;
mod pdf_fonts;

use pdf_fonts::FontSet;

/// Why no PDF could be made.
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

/// The document: the same bytes for the same text. Viewers show the title as the name of the file.
pub fn render_markdown_to_pdf(title: &str, markdown: &str) -> Result<Vec<u8>, PdfError> {
    let letters = FontSet::load_embedded_fonts()?;
    let lines = page_layout::layout_blocks(&letters, &markdown_block::parse_blocks(markdown));
    pdf_drawing::render_pdf(&letters, title, &lines)
}

#[cfg(test)]
mod tests;
