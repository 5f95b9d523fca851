//! Foreign Markdown inside our page: it keeps its form and cannot change the form of the page.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Deepest heading that Markdown has.
/// Limit (Sessions): heading levels of an exported page.
const HEADING_LEVEL_MAX: usize = 6;

/// The parts of Markdown that pages are written in.
fn markdown_parser_options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// The text below a heading of that level: its own headings are moved below it. A text that would hide what
/// follows, such as one with an open code block, is shown unchanged in a fence instead.
pub(super) fn embed_markdown_below_heading(markdown: &str, level: usize) -> String {
    let text = demote_headings(markdown.trim_end(), level);
    if is_self_contained_markdown(&text) { text } else { wrap_in_code_fence(markdown.trim_end(), "markdown") }
}

fn demote_headings(markdown: &str, levels: usize) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut done = 0;
    for (event, range) in Parser::new_ext(markdown, markdown_parser_options()).into_offset_iter() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        // Headings are not nested; ranges come in order.
        let (Some(before), Some(heading)) = (markdown.get(done..range.start), markdown.get(range.clone()))
        else {
            continue;
        };
        text.push_str(before);
        text.push_str(&"#".repeat((heading_level_number(level) + levels).min(HEADING_LEVEL_MAX)));
        text.push(' ');
        text.push_str(&plain_heading_text(heading));
        text.push_str(&heading[heading.trim_end().len()..]);
        done = range.end;
    }
    text.push_str(markdown.get(done..).unwrap_or_default());
    text
}

/// The text of a heading, in one line, without its marks.
fn plain_heading_text(heading: &str) -> String {
    let heading = heading.trim_end();
    let lines: Vec<&str> = match heading.strip_prefix('#') {
        Some(_) => vec![heading.trim_start_matches('#')],
        // Underlined: the last line is the rule.
        None => {
            let mut lines: Vec<&str> = heading.lines().collect();
            lines.pop();
            lines
        }
    };
    let words = lines.iter().map(|line| line.trim().trim_start_matches('>').trim());
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a heading after this text would still be a heading, and the text defines no link names. A link
/// name is valid for the whole page and would turn other texts into links.
fn is_self_contained_markdown(text: &str) -> bool {
    const AFTER: &str = "trackway-after";
    let probe = format!("{text}\n\n# {AFTER}\n");
    let mut depth = 0_usize;
    let mut inside = false;
    let parser = Parser::new_ext(&probe, markdown_parser_options());
    if parser.reference_definitions().iter().next().is_some() {
        return false;
    }
    for event in parser {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) if depth == 0 => {
                inside = true;
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
                inside = false;
                depth -= 1;
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) if inside && &*text == AFTER => return true,
            _ => {}
        }
    }
    false
}

/// The unchanged text in a fence that it does not contain itself.
pub(super) fn wrap_in_code_fence(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// The text in one line, for headings and items.
pub(super) fn collapse_to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn heading_level_number(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
