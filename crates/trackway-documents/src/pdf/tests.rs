//! PDFs, read back.

use super::{
    markdown_block::{MarkdownBlock, parse_blocks},
    *,
};

/// Proves T16.
#[test]
fn markdown_becomes_blocks() {
    let found =
        parse_blocks("# T\n\na **b** `c`\n\n1. x\n2. y\n\n```\ncode\n```\n\n| h |\n|---|\n| z |\n\n---\n");
    let kinds: Vec<&str> = found
        .iter()
        .map(|block| match block {
            MarkdownBlock::Heading { .. } => "heading",
            MarkdownBlock::Paragraph { mark: Some(_), .. } => "item",
            MarkdownBlock::Paragraph { .. } => "paragraph",
            MarkdownBlock::Code { .. } => "code",
            MarkdownBlock::Table { .. } => "table",
            MarkdownBlock::Rule => "rule",
        })
        .collect();
    assert_eq!(kinds, ["heading", "paragraph", "item", "item", "code", "table", "rule"]);
}

/// Proves T16: long words, wide tables and many lines end inside the page.
#[test]
fn everything_fits_the_page() {
    let letters = FontSet::load_embedded_fonts().unwrap();
    let long = "x".repeat(5_000);
    let many = "| a ".repeat(40);
    let rule = "|---".repeat(40);
    let page = format!(
        "{long}\n\n`{long}`\n\n```\n{long}\n```\n\n{many}|\n{rule}|\n{many}|\n\n> > - 1. * deep {long}\n"
    );
    let right = page_layout::PAGE_WIDTH - 2.0 * page_layout::MARGIN;
    for line in page_layout::layout_blocks(&letters, &parse_blocks(&page)) {
        for piece in &line.pieces {
            let end = piece.x + letters.text_width(&piece.text, piece.style) * line.size;
            assert!(end <= right + line.size, "{end} > {right}: {}", piece.text);
        }
    }
}

/// Proves T16: a PDF with all its pages, the same every time, for any letters.
#[test]
fn a_page_becomes_a_pdf() {
    let lines = "Grüße, Ελλάδα, Привет, שלום, 日本, →, ☑, 🙂\n\n".repeat(200);
    let pdf = render_markdown_to_pdf("T", &lines).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    assert!(pdf.trim_ascii_end().ends_with(b"%%EOF"));
    assert!(pdf.windows(9).any(|part| part == b"/FontFile" || part == b"ToUnicode"));
    assert_eq!(pdf, render_markdown_to_pdf("T", &lines).unwrap());
    assert!(render_markdown_to_pdf("", "").unwrap().starts_with(b"%PDF-"), "an empty page is one too");
}
