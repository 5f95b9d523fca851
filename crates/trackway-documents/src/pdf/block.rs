//! Markdown as blocks: the vertical sequence of a page.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::letters::Style;

/// The supported extensions of Markdown.
const EXTENSIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// A piece of text in one style. A line break inside it is also a line break on the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Heading {
        level: u8,
        spans: Vec<Span>,
    },
    /// `depth` is the level of indentation; `mark` comes before its first line.
    Paragraph {
        spans: Vec<Span>,
        depth: usize,
        mark: Option<String>,
    },
    Code {
        text: String,
        depth: usize,
    },
    /// The first row is the head.
    Table {
        rows: Vec<Vec<Vec<Span>>>,
    },
    Rule,
}

pub(super) fn blocks(markdown: &str) -> Vec<Block> {
    let mut builder = Builder::default();
    for event in Parser::new_ext(markdown, EXTENSIONS) {
        builder.take(event);
    }
    builder.flush();
    builder.blocks
}

#[derive(Debug, Default)]
struct Builder {
    blocks: Vec<Block>,
    spans: Vec<Span>,
    bold: usize,
    italic: usize,
    quotes: usize,
    /// The number of the next item of each open list; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    mark: Option<String>,
    code: Option<String>,
    rows: Vec<Vec<Vec<Span>>>,
    row: Vec<Vec<Span>>,
    links: Vec<String>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.say(&text, false),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.say(&text, true);
            }
            Event::InlineHtml(html) | Event::Html(html) => {
                let is_break = matches!(html.trim(), "<br>" | "<br/>" | "<br />");
                self.say(if is_break { "\n" } else { &html }, false);
            }
            Event::FootnoteReference(name) => self.say(&name, false),
            Event::SoftBreak => self.say(" ", false),
            Event::HardBreak => self.say("\n", false),
            Event::TaskListMarker(done) => self.say(if done { "☑ " } else { "☐ " }, false),
            Event::Rule => self.blocks.push(Block::Rule),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::BlockQuote(_) => {
                self.flush();
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
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
            Tag::HtmlBlock | Tag::Paragraph | Tag::Heading { .. } => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                let text = self.code.take().unwrap_or_default();
                let depth = self.depth();
                self.blocks.push(Block::Code { text, depth });
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.blocks.push(Block::Heading { level: level as u8, spans });
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.spans)),
            TagEnd::TableHead | TagEnd::TableRow => self.rows.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                self.blocks.push(Block::Table { rows });
            }
            TagEnd::Link | TagEnd::Image => self.tell_address(),
            TagEnd::Paragraph | TagEnd::Item | TagEnd::HtmlBlock => self.flush(),
            _ => {}
        }
    }

    /// Paper has no links: the address follows the link text, unless it is the link text.
    fn tell_address(&mut self) {
        let Some(address) = self.links.pop() else { return };
        let said = self.spans.last().is_some_and(|span| span.text.ends_with(&address));
        if !said {
            self.say(&format!(" ({address})"), false);
        }
    }

    fn say(&mut self, text: &str, mono: bool) {
        let style = Style { bold: self.bold > 0, italic: self.italic > 0, mono };
        self.spans.push(Span { text: text.to_owned(), style });
    }

    fn depth(&self) -> usize {
        self.lists.len() + self.quotes
    }

    /// Makes a paragraph of the text so far.
    fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let (spans, depth) = (std::mem::take(&mut self.spans), self.depth());
        self.blocks.push(Block::Paragraph { spans, depth, mark: self.mark.take() });
    }
}
