//! Blocks as lines: the position of each word.

use super::{
    block::{Block, Span},
    letters::{Letters, Style},
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
pub(super) struct Line {
    pub(super) pieces: Vec<Piece>,
    pub(super) size: f32,
    /// Empty space above it, except at the top of a page.
    pub(super) above: f32,
    /// It must not be the last line of a page.
    pub(super) leads: bool,
    /// A rule is drawn through it.
    pub(super) rule: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) x: f32,
    pub(super) text: String,
    pub(super) style: Style,
}

impl Line {
    pub(super) fn height(&self) -> f32 {
        self.size * LEADING
    }
}

pub(super) fn lines(letters: &Letters, blocks: &[Block]) -> Vec<Line> {
    let mut lines = Vec::new();
    for block in blocks {
        let mut fresh = match block {
            Block::Heading { level, spans } => heading(letters, *level, spans),
            Block::Paragraph { spans, depth, mark } => {
                paragraph(letters, spans, *depth, mark.as_deref())
            }
            Block::Code { text, depth } => code(letters, text, *depth),
            Block::Table { rows } => table(letters, rows),
            Block::Rule => vec![Line { size: TEXT_SIZE, rule: true, ..Line::default() }],
        };
        if let Some(first) = fresh.first_mut() {
            first.above = match block {
                Block::Heading { .. } => first.size,
                Block::Paragraph { mark: Some(_), .. } => TEXT_SIZE * 0.2,
                _ => TEXT_SIZE * 0.6,
            };
        }
        lines.append(&mut fresh);
    }
    lines
}

fn heading(letters: &Letters, level: u8, spans: &[Span]) -> Vec<Line> {
    let size = match level {
        1 => 18.0,
        2 => 15.0,
        3 => 12.5,
        4 => 11.0,
        _ => TEXT_SIZE,
    };
    let bold: Vec<Span> = spans
        .iter()
        .map(|span| Span { text: span.text.clone(), style: Style { bold: true, ..span.style } })
        .collect();
    let wrapped = wrap(letters, &bold, WIDTH, size);
    wrapped
        .into_iter()
        .map(|pieces| Line { pieces, size, leads: true, ..Line::default() })
        .collect()
}

fn paragraph(letters: &Letters, spans: &[Span], depth: usize, mark: Option<&str>) -> Vec<Line> {
    let left = moved_in(depth);
    let mut lines: Vec<Line> = wrap(letters, spans, WIDTH - left, TEXT_SIZE)
        .into_iter()
        .map(|pieces| Line { pieces: shifted(pieces, left), size: TEXT_SIZE, ..Line::default() })
        .collect();
    if let (Some(mark), Some(first)) = (mark, lines.first_mut()) {
        let style = Style::default();
        let width = letters.width_of(mark, style) * TEXT_SIZE;
        let x = (left - width - TEXT_SIZE * 0.4).max(0.0);
        first.pieces.insert(0, Piece { x, text: mark.to_owned(), style });
    }
    lines
}

/// Every line of the text unchanged; a line that is too long continues on the next.
fn code(letters: &Letters, text: &str, depth: usize) -> Vec<Line> {
    let left = moved_in(depth) + INDENT / 2.0;
    let mut lines = Vec::new();
    for source in text.trim_end().lines() {
        let source = source.replace('\t', "    ");
        let mut rest = source.as_str();
        loop {
            let cut = fitting(letters, rest, Style::MONO, (WIDTH - left) / CODE_SIZE);
            let piece = Piece { x: left, text: rest[..cut].to_owned(), style: Style::MONO };
            lines.push(Line { pieces: vec![piece], size: CODE_SIZE, ..Line::default() });
            rest = &rest[cut..];
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

fn table(letters: &Letters, rows: &[Vec<Vec<Span>>]) -> Vec<Line> {
    let widths = columns(letters, rows);
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let mut x = 0.0;
        let mut tall: Vec<Line> = Vec::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell: Vec<Span> = cell
                .iter()
                .map(|span| {
                    if number == 0 {
                        Span { style: Style::BOLD, ..span.clone() }
                    } else {
                        span.clone()
                    }
                })
                .collect();
            for (place, pieces) in wrap(letters, &cell, *width, TABLE_SIZE).into_iter().enumerate()
            {
                if tall.len() <= place {
                    tall.push(Line { size: TABLE_SIZE, leads: number == 0, ..Line::default() });
                }
                tall[place].pieces.extend(shifted(pieces, x));
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
fn columns(letters: &Letters, rows: &[Vec<Vec<Span>>]) -> Vec<f32> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut natural = vec![COLUMN_MIN; count];
    for row in rows {
        for (cell, widest) in row.iter().zip(&mut natural) {
            let style = Style::BOLD;
            let width: f32 = cell.iter().map(|span| letters.width_of(&span.text, style)).sum();
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

fn moved_in(depth: usize) -> f32 {
    INDENT * depth.min(DEPTH_MAX) as f32
}

fn shifted(pieces: Vec<Piece>, by: f32) -> Vec<Piece> {
    pieces.into_iter().map(|piece| Piece { x: piece.x + by, ..piece }).collect()
}

/// How many bytes of the text fit. At least one letter, so that the loop ends.
fn fitting(letters: &Letters, text: &str, style: Style, width: f32) -> usize {
    let mut used = 0.0;
    for (at, letter) in text.char_indices() {
        used += letters.width(letter, style);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

/// The spans in lines of at most that width, broken between words if possible.
fn wrap(letters: &Letters, spans: &[Span], width: f32, size: f32) -> Vec<Vec<Piece>> {
    let mut wrapping =
        Wrapping { letters, width, size, lines: vec![Vec::new()], x: 0.0, space: false };
    for span in spans {
        for (number, line) in span.text.split('\n').enumerate() {
            if number > 0 {
                wrapping.next_line();
            }
            for (number, word) in line.split(char::is_whitespace).enumerate() {
                wrapping.space |= number > 0;
                if !word.is_empty() {
                    wrapping.put(word, span.style);
                }
            }
        }
    }
    wrapping.lines
}

struct Wrapping<'a> {
    letters: &'a Letters,
    width: f32,
    size: f32,
    lines: Vec<Vec<Piece>>,
    x: f32,
    /// The next word needs a space before it.
    space: bool,
}

impl Wrapping<'_> {
    fn next_line(&mut self) {
        self.lines.push(Vec::new());
        self.x = 0.0;
        self.space = false;
    }

    fn put(&mut self, word: &str, style: Style) {
        let space = if self.space && self.x > 0.0 { " " } else { "" };
        self.space = false;
        let width = self.letters.width_of(word, style) * self.size;
        let gap = self.letters.width_of(space, style) * self.size;
        if self.x + gap + width <= self.width {
            self.add(&format!("{space}{word}"), style, gap + width);
            return;
        }
        if self.x > 0.0 {
            self.next_line();
        }
        let mut rest = word;
        loop {
            let cut = fitting(self.letters, rest, style, self.width / self.size);
            if cut == rest.len() {
                break;
            }
            self.add(&rest[..cut], style, self.width);
            self.next_line();
            rest = &rest[cut..];
        }
        let width = self.letters.width_of(rest, style) * self.size;
        self.add(rest, style, width);
    }

    fn add(&mut self, text: &str, style: Style, width: f32) {
        let x = self.x;
        self.x += width;
        let Some(line) = self.lines.last_mut() else { return };
        match line.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => line.push(Piece { x, text: text.to_owned(), style }),
        }
    }
}
