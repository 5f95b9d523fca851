//! Blocks as lines: the position of each word.

use super::{
    markdown_block::{MarkdownBlock, TextSpan},
    pdf_fonts::{FontSet, TextStyle},
};

/// A4 in points, and its margins.
pub(super) const PAGE_WIDTH: f32 = 595.0;
pub(super) const PAGE_HEIGHT: f32 = 842.0;
pub(super) const MARGIN: f32 = 56.0;
/// The width of a line.
const WIDTH: f32 = PAGE_WIDTH - 2.0 * MARGIN;

const TEXT_SIZE: f32 = 10.0;
const CODE_SIZE: f32 = 8.5;
const TABLE_SIZE: f32 = 8.5;
/// Height of a line relative to its font size.
const LEADING: f32 = 1.4;
/// Indentation of one level of a list or quotation.
const INDENT: f32 = 16.0;
/// Deeper levels are not indented further; otherwise no space would be left on the line.
/// Limit (Sessions): levels of indentation on an exported page.
const DEPTH_MAX: usize = 12;
/// Between two columns of a table.
const GUTTER: f32 = 8.0;
/// A column is never narrower, unless there are too many columns.
const COLUMN_MIN: f32 = 30.0;

/// One line of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PageLine {
    pub(super) pieces: Vec<PositionedText>,
    pub(super) size: f32,
    /// Empty space above it, except at the top of a page.
    pub(super) above: f32,
    /// It must not be the last line of a page.
    pub(super) leads: bool,
    /// A rule is drawn through it.
    pub(super) rule: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PositionedText {
    pub(super) x: f32,
    pub(super) text: String,
    pub(super) style: TextStyle,
}

impl PageLine {
    pub(super) fn line_height(&self) -> f32 {
        self.size * LEADING
    }
}

pub(super) fn layout_blocks(fonts: &FontSet, blocks: &[MarkdownBlock]) -> Vec<PageLine> {
    let mut lines = Vec::new();
    for block in blocks {
        let mut fresh = match block {
            MarkdownBlock::Heading { level, spans } => layout_heading(fonts, *level, spans),
            MarkdownBlock::Paragraph { spans, depth, mark } => {
                layout_paragraph(fonts, spans, *depth, mark.as_deref())
            }
            MarkdownBlock::Code { text, depth } => layout_code_block(fonts, text, *depth),
            MarkdownBlock::Table { rows } => layout_table(fonts, rows),
            MarkdownBlock::Rule => {
                vec![PageLine { size: TEXT_SIZE, rule: true, ..PageLine::default() }]
            }
        };
        if let Some(first) = fresh.first_mut() {
            first.above = match block {
                MarkdownBlock::Heading { .. } => first.size,
                MarkdownBlock::Paragraph { mark: Some(_), .. } => TEXT_SIZE * 0.2,
                _ => TEXT_SIZE * 0.6,
            };
        }
        lines.append(&mut fresh);
    }
    lines
}

fn layout_heading(fonts: &FontSet, level: u8, spans: &[TextSpan]) -> Vec<PageLine> {
    let size = match level {
        1 => 18.0,
        2 => 15.0,
        3 => 12.5,
        4 => 11.0,
        _ => TEXT_SIZE,
    };
    let bold: Vec<TextSpan> = spans
        .iter()
        .map(|span| TextSpan { text: span.text.clone(), style: TextStyle { bold: true, ..span.style } })
        .collect();
    let wrapped = wrap_spans(fonts, &bold, WIDTH, size);
    wrapped.into_iter().map(|pieces| PageLine { pieces, size, leads: true, ..PageLine::default() }).collect()
}

fn layout_paragraph(fonts: &FontSet, spans: &[TextSpan], depth: usize, mark: Option<&str>) -> Vec<PageLine> {
    let left = indent_width(depth);
    let mut lines: Vec<PageLine> = wrap_spans(fonts, spans, WIDTH - left, TEXT_SIZE)
        .into_iter()
        .map(|pieces| PageLine {
            pieces: shift_text_right(pieces, left),
            size: TEXT_SIZE,
            ..PageLine::default()
        })
        .collect();
    if let (Some(mark), Some(first)) = (mark, lines.first_mut()) {
        let style = TextStyle::default();
        let width = fonts.text_width(mark, style) * TEXT_SIZE;
        let x = (left - width - TEXT_SIZE * 0.4).max(0.0);
        first.pieces.insert(0, PositionedText { x, text: mark.to_owned(), style });
    }
    lines
}

/// Every line of the text unchanged; a line that is too long continues on the next.
fn layout_code_block(fonts: &FontSet, text: &str, depth: usize) -> Vec<PageLine> {
    let left = indent_width(depth) + INDENT / 2.0;
    let mut lines = Vec::new();
    for source in text.trim_end().lines() {
        let source = source.replace('\t', "    ");
        let mut rest = source.as_str();
        loop {
            let cut = bytes_fitting_width(fonts, rest, TextStyle::MONO, (WIDTH - left) / CODE_SIZE);
            let piece = PositionedText { x: left, text: rest[..cut].to_owned(), style: TextStyle::MONO };
            lines.push(PageLine { pieces: vec![piece], size: CODE_SIZE, ..PageLine::default() });
            rest = &rest[cut..];
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

fn layout_table(fonts: &FontSet, rows: &[Vec<Vec<TextSpan>>]) -> Vec<PageLine> {
    let widths = column_widths(fonts, rows);
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let mut x = 0.0;
        let mut tall: Vec<PageLine> = Vec::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell: Vec<TextSpan> = cell
                .iter()
                .map(|span| {
                    if number == 0 {
                        TextSpan { style: TextStyle::BOLD, ..span.clone() }
                    } else {
                        span.clone()
                    }
                })
                .collect();
            for (place, pieces) in wrap_spans(fonts, &cell, *width, TABLE_SIZE).into_iter().enumerate() {
                if tall.len() <= place {
                    tall.push(PageLine { size: TABLE_SIZE, leads: number == 0, ..PageLine::default() });
                }
                tall[place].pieces.extend(shift_text_right(pieces, x));
            }
            x += width + GUTTER;
        }
        if let Some(first) = tall.first_mut() {
            first.above = TABLE_SIZE * 0.3;
        }
        lines.append(&mut tall);
    }
    lines
}

/// Columns are as wide as their widest cell if there is enough space; otherwise they share the
/// space.
fn column_widths(fonts: &FontSet, rows: &[Vec<Vec<TextSpan>>]) -> Vec<f32> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut natural = vec![COLUMN_MIN; count];
    for row in rows {
        for (cell, widest) in row.iter().zip(&mut natural) {
            let style = TextStyle::BOLD;
            let width: f32 = cell.iter().map(|span| fonts.text_width(&span.text, style)).sum();
            *widest = widest.max(width * TABLE_SIZE + 1.0);
        }
    }
    let room = (WIDTH - GUTTER * (count - 1) as f32).max(count as f32);
    let total: f32 = natural.iter().sum();
    if total <= room {
        return natural;
    }
    // Narrow columns keep their width; the others share the rest.
    let fair = room / count as f32;
    let narrow: f32 = natural.iter().filter(|width| **width <= fair).sum();
    let wide: f32 = natural.iter().filter(|width| **width > fair).sum();
    let share = (room - narrow) / wide;
    natural.iter().map(|width| if *width <= fair { *width } else { width * share }).collect()
}

fn indent_width(depth: usize) -> f32 {
    INDENT * depth.min(DEPTH_MAX) as f32
}

fn shift_text_right(pieces: Vec<PositionedText>, by: f32) -> Vec<PositionedText> {
    pieces.into_iter().map(|piece| PositionedText { x: piece.x + by, ..piece }).collect()
}

/// How many bytes of the text fit. At least one letter, so that the loop ends.
fn bytes_fitting_width(fonts: &FontSet, text: &str, style: TextStyle, width: f32) -> usize {
    let mut used = 0.0;
    for (at, letter) in text.char_indices() {
        used += fonts.char_width(letter, style);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

/// The spans in lines of at most that width, broken between words if possible.
fn wrap_spans(fonts: &FontSet, spans: &[TextSpan], width: f32, size: f32) -> Vec<Vec<PositionedText>> {
    let mut wrapping =
        LineWrapper { letters: fonts, width, size, lines: vec![Vec::new()], x: 0.0, space: false };
    for span in spans {
        for (number, line) in span.text.split('\n').enumerate() {
            if number > 0 {
                wrapping.start_new_line();
            }
            for (number, word) in line.split(char::is_whitespace).enumerate() {
                wrapping.space |= number > 0;
                if !word.is_empty() {
                    wrapping.push_word(word, span.style);
                }
            }
        }
    }
    wrapping.lines
}

struct LineWrapper<'a> {
    letters: &'a FontSet,
    width: f32,
    size: f32,
    lines: Vec<Vec<PositionedText>>,
    x: f32,
    /// The next word needs a space before it.
    space: bool,
}

impl LineWrapper<'_> {
    fn start_new_line(&mut self) {
        self.lines.push(Vec::new());
        self.x = 0.0;
        self.space = false;
    }

    fn push_word(&mut self, word: &str, style: TextStyle) {
        let space = if self.space && self.x > 0.0 { " " } else { "" };
        self.space = false;
        let width = self.letters.text_width(word, style) * self.size;
        let gap = self.letters.text_width(space, style) * self.size;
        if self.x + gap + width <= self.width {
            self.append_positioned_text(&format!("{space}{word}"), style, gap + width);
            return;
        }
        if self.x > 0.0 {
            self.start_new_line();
        }
        let mut rest = word;
        loop {
            let cut = bytes_fitting_width(self.letters, rest, style, self.width / self.size);
            if cut == rest.len() {
                break;
            }
            self.append_positioned_text(&rest[..cut], style, self.width);
            self.start_new_line();
            rest = &rest[cut..];
        }
        let width = self.letters.text_width(rest, style) * self.size;
        self.append_positioned_text(rest, style, width);
    }

    fn append_positioned_text(&mut self, text: &str, style: TextStyle, width: f32) {
        let x = self.x;
        self.x += width;
        let Some(line) = self.lines.last_mut() else { return };
        match line.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => line.push(PositionedText { x, text: text.to_owned(), style }),
        }
    }
}
