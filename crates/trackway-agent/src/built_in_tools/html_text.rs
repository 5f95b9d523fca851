//! Converts a web page to text. Markup costs a model many tokens and says little.

/// Elements whose content is not visible.
const SILENT: [&str; 6] = ["script", "style", "noscript", "template", "svg", "head"];

/// Elements that start a new line.
const BLOCKS: &str = "\
    address article aside blockquote br div dd dl dt footer form h1 h2 h3 h4 h5 h6 header hr li main \
    nav p pre section tr";

/// The text of an HTML page, its title first. It is not a browser: unrecognized markup is left
/// unchanged.
pub(super) fn html_to_text(html: &str) -> String {
    let mut text = String::new();
    if let Some(title) = html_page_title(html) {
        text.push_str(&title);
        text.push('\n');
    }
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        push_html_words(&mut text, &rest[..start]);
        let markup = &rest[start..];
        if let Some(comment) = markup.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        let name = html_tag_name(markup);
        if name.is_empty() {
            // A lone `<` is an ordinary character.
            text.push('<');
            rest = &markup[1..];
            continue;
        }
        let behind = markup.split_once('>').map_or("", |(_, behind)| behind);
        let bare = name.trim_start_matches('/');
        if BLOCKS.split(' ').any(|block| block == bare) {
            ensure_newline(&mut text);
        } else if matches!(bare, "td" | "th") && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
        rest = if SILENT.contains(&&*name) { skip_hidden_element(behind, &name) } else { behind };
    }
    push_html_words(&mut text, rest);
    trim_lines(&text)
}

fn html_page_title(html: &str) -> Option<String> {
    let start = find_ignoring_case(html, "<title")?;
    let (_, content) = html[start..].split_once('>')?;
    let end = content.find('<').unwrap_or(content.len());
    let mut title = String::new();
    push_html_words(&mut title, &content[..end]);
    let title = title.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// The name of the tag that starts here, in lower case, with the `/` of a closing tag.
fn html_tag_name(markup: &str) -> String {
    let inner = &markup[1..];
    let closing = inner.strip_prefix('/');
    let inner = closing.unwrap_or(inner);
    let name: String = inner.chars().take_while(char::is_ascii_alphanumeric).collect();
    if name.is_empty() {
        // A declaration such as `<!doctype html>` has no name, and is not text either.
        return if inner.starts_with(['!', '?']) { "!".to_owned() } else { String::new() };
    }
    let slash = if closing.is_some() { "/" } else { "" };
    format!("{slash}{}", name.to_ascii_lowercase())
}

/// The rest after the end of a hidden element. An element that never ends hides the rest.
fn skip_hidden_element<'a>(rest: &'a str, name: &str) -> &'a str {
    let Some(end) = find_ignoring_case(rest, &format!("</{name}")) else { return "" };
    rest[end..].split_once('>').map_or("", |(_, behind)| behind)
}

fn find_ignoring_case(text: &str, small: &str) -> Option<usize> {
    let (text, small) = (text.as_bytes(), small.as_bytes());
    text.windows(small.len()).position(|window| window.eq_ignore_ascii_case(small))
}

fn ensure_newline(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Words separated by single spaces, with entities resolved.
fn push_html_words(text: &mut String, raw: &str) {
    for word in raw.split_inclusive(char::is_whitespace) {
        let plain = word.trim_end();
        push_decoding_entities(text, plain);
        if plain.len() < word.len() && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
    }
}

/// Longest entity that is recognized.
/// Limit (Agents): HTML entity in a fetched page.
const ENTITY_BYTES_MAX: usize = 12;

fn push_decoding_entities(text: &mut String, mut raw: &str) {
    while let Some(start) = raw.find('&') {
        text.push_str(&raw[..start]);
        raw = &raw[start..];
        let end = raw.bytes().take(ENTITY_BYTES_MAX).position(|byte| byte == b';');
        match end.and_then(|end| Some((decode_html_entity(&raw[1..end])?, end))) {
            Some((letter, end)) => {
                text.push(letter);
                raw = &raw[end + 1..];
            }
            None => {
                text.push('&');
                raw = &raw[1..];
            }
        }
    }
    text.push_str(raw);
}

fn decode_html_entity(name: &str) -> Option<char> {
    let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    if let Some(code) = name.strip_prefix('#') {
        return match code.strip_prefix(['x', 'X']) {
            Some(hex) => number(hex, 16),
            None => number(code, 10),
        };
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "copy" => '©',
        "euro" => '€',
        _ => return None,
    })
}

/// Lines without spaces around them, and no two empty ones in a row.
fn trim_lines(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        tidy.push_str(line);
        tidy.push('\n');
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

#[cfg(test)]
mod tests;
