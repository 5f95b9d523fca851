//! Markdown as blocks: the vertical sequence of a page.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::pdf_fonts::TextStyle;

/// The supported extensions of Markdown.
const EXTENSIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// A piece of text in one style. A line break inside it is also a line break on the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextSpan {
    pub(super) text: String,
    pub(super) style: TextStyle,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum MarkdownBlock {
    Heading {
        level: u8,
        spans: Vec<TextSpan>,
    },
    /// `depth` is the level of indentation; `mark` comes before its first line.
    Paragraph {
        spans: Vec<TextSpan>,
        depth: usize,
        mark: Option<String>,
    },
    Code {
        text: String,
        depth: usize,
    },
    /// The first row is the head.
    Table {
        rows: Vec<Vec<Vec<TextSpan>>>,
    },
    Rule,
}

pub(super) fn parse_blocks(markdown: &str) -> Vec<MarkdownBlock> {
    let mut builder = MarkdownBlockBuilder::default();
    for event in Parser::new_ext(markdown, EXTENSIONS) {
        builder.handle_markdown_event(event);
    }
    builder.flush_paragraph();
    builder.blocks
}

#[derive(Debug, Default)]
struct MarkdownBlockBuilder {
    blocks: Vec<MarkdownBlock>,
    spans: Vec<TextSpan>,
    bold: usize,
    italic: usize,
    quotes: usize,
    /// The number of the next item of each open list; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    mark: Option<String>,
    code: Option<String>,
    rows: Vec<Vec<Vec<TextSpan>>>,
    row: Vec<Vec<TextSpan>>,
    links: Vec<String>,
}

impl MarkdownBlockBuilder {
    fn handle_markdown_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open_markdown_tag(tag),
            Event::End(tag) => self.close_markdown_tag(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push_span(&text, false),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push_span(&text, true);
            }
            Event::InlineHtml(html) | Event::Html(html) => {
                let is_break = matches!(html.trim(), "<br>" | "<br/>" | "<br />");
                self.push_span(if is_break { "\n" } else { &html }, false);
            }
            Event::FootnoteReference(name) => self.push_span(&name, false),
            Event::SoftBreak => self.push_span(" ", false),
            Event::HardBreak => self.push_span("\n", false),
            Event::TaskListMarker(done) => self.push_span(if done { "☑ " } else { "☐ " }, false),
            Event::Rule => self.blocks.push(MarkdownBlock::Rule),
        }
    }

    fn open_markdown_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::BlockQuote(_) => {
                self.flush_paragraph();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flush_paragraph();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush_paragraph();
                self.lists.push(first);
            }
            Tag::Item => {
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}.");
                        *number += 1;
                        mark
                    }
                    _ => "•".to_owned(),
                });
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.into_string());
            }
            Tag::HtmlBlock | Tag::Paragraph | Tag::Heading { .. } => self.flush_paragraph(),
            _ => {}
        }
    }

    fn close_markdown_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::BlockQuote(_) => {
                self.flush_paragraph();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                let text = self.code.take().unwrap_or_default();
                let depth = self.list_nesting_depth();
                self.blocks.push(MarkdownBlock::Code { text, depth });
            }
            TagEnd::List(_) => {
                self.flush_paragraph();
                self.lists.pop();
            }
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.blocks.push(MarkdownBlock::Heading { level: level as u8, spans });
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.spans)),
            TagEnd::TableHead | TagEnd::TableRow => self.rows.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                self.blocks.push(MarkdownBlock::Table { rows });
            }
            TagEnd::Link | TagEnd::Image => self.append_link_target(),
            TagEnd::Paragraph | TagEnd::Item | TagEnd::HtmlBlock => self.flush_paragraph(),
            _ => {}
        }
    }

    /// Paper has no links: the address follows the link text, unless it is the link text.
    fn append_link_target(&mut self) {
        let Some(address) = self.links.pop() else { return };
        let said = self.spans.last().is_some_and(|span| span.text.ends_with(&address));
        if !said {
            self.push_span(&format!(" ({address})"), false);
        }
    }

    fn push_span(&mut self, text: &str, mono: bool) {
        let style = TextStyle { bold: self.bold > 0, italic: self.italic > 0, mono };
        self.spans.push(TextSpan { text: text.to_owned(), style });
    }

    fn list_nesting_depth(&self) -> usize {
        self.lists.len() + self.quotes
    }

    /// Makes a paragraph of the text so far.
    fn flush_paragraph(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let (spans, depth) = (std::mem::take(&mut self.spans), self.list_nesting_depth());
        self.blocks.push(MarkdownBlock::Paragraph { spans, depth, mark: self.mark.take() });
    }
}
