//! Which bytes of an artifact a request asks for: conditions and ranges (RFC 9110, sections 13 and 14).

use std::ops::Range;

use axum::http::{HeaderMap, HeaderName, header};

/// What a request for some content is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContentSelection {
    Whole,
    Part(Range<usize>),
    /// The client has this content already.
    NotModified,
    /// There are no such bytes.
    Unsatisfiable,
}

/// Chooses the bytes for a `GET` with these headers. A range that is not understood is ignored, as the
/// standard asks; so is a list of several ranges, whose answer would have to be a multipart body.
pub(super) fn select_content(headers: &HeaderMap, etag: &str, size: usize) -> ContentSelection {
    if header_values(headers, header::IF_NONE_MATCH).any(|list| matches_etag_list(list, etag)) {
        return ContentSelection::NotModified;
    }
    // A part of other content than the client has would be glued to what it has.
    if header_values(headers, header::IF_RANGE).any(|known| known.trim() != etag) {
        return ContentSelection::Whole;
    }
    match header_values(headers, header::RANGE).next() {
        Some(range) => select_range(range, size),
        None => ContentSelection::Whole,
    }
}

/// Whether one of the listed tags is this one, or the list is `*`.
pub(super) fn matches_etag_list(list: &str, etag: &str) -> bool {
    let tag = |text: &str| text.trim().strip_prefix("W/").unwrap_or(text.trim()) == etag;
    list.trim() == "*" || list.split(',').any(tag)
}

/// The readable values of a header.
pub(super) fn header_values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok())
}

fn select_range(header: &str, size: usize) -> ContentSelection {
    let Some(bounds) = parse_single_range(header) else { return ContentSelection::Whole };
    let range = match bounds {
        (Some(first), last) => first..last.map_or(size, |last| last.saturating_add(1)).min(size),
        (None, Some(last_bytes)) => size.saturating_sub(last_bytes)..size,
        (None, None) => return ContentSelection::Whole,
    };
    if range.start < range.end { ContentSelection::Part(range) } else { ContentSelection::Unsatisfiable }
}

/// First and last byte of `bytes=FIRST-LAST`; without a first one, the number of bytes at the end.
fn parse_single_range(header: &str) -> Option<(Option<usize>, Option<usize>)> {
    let (unit, bounds) = header.split_once('=')?;
    let (first, last) = bounds.trim().split_once('-')?;
    let (first, last) = (parse_bound(first)?, parse_bound(last)?);
    let is_backwards = matches!((first, last), (Some(first), Some(last)) if first > last);
    (unit.trim().eq_ignore_ascii_case("bytes") && !is_backwards).then_some((first, last))
}

/// A number of digits, however large; nothing if it is left out.
fn parse_bound(text: &str) -> Option<Option<usize>> {
    let text = text.trim();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((!text.is_empty()).then(|| text.parse().unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"0-abc\"";

    fn select(headers: &[(HeaderName, &'static str)], size: usize) -> ContentSelection {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        select_content(&headers.collect(), ETAG, size)
    }

    /// Every form of a range, against ten bytes and against none.
    #[test]
    fn ranges_select_bytes() {
        use ContentSelection::{Part, Unsatisfiable, Whole};
        let table = [
            ("bytes=0-3", Part(0..4), Unsatisfiable),
            ("bytes=9-9", Part(9..10), Unsatisfiable),
            ("bytes=4-", Part(4..10), Unsatisfiable),
            ("bytes=4-99", Part(4..10), Unsatisfiable),
            ("bytes=-3", Part(7..10), Unsatisfiable),
            ("bytes=-99", Part(0..10), Unsatisfiable),
            ("Bytes = 2-4", Part(2..5), Unsatisfiable),
            ("bytes=0-99999999999999999999999", Part(0..10), Unsatisfiable),
            ("bytes=10-", Unsatisfiable, Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable, Unsatisfiable),
            ("bytes=-0", Unsatisfiable, Unsatisfiable),
            ("bytes=5-4", Whole, Whole),
            ("bytes=0-1,3-4", Whole, Whole),
            ("bytes=-", Whole, Whole),
            ("bytes=a-b", Whole, Whole),
            ("bytes=1.5-2", Whole, Whole),
            ("bytes=+1-2", Whole, Whole),
            ("bytes=--1", Whole, Whole),
            ("lines=0-3", Whole, Whole),
            ("bytes", Whole, Whole),
            ("", Whole, Whole),
        ];
        for (range, of_ten, of_none) in table {
            assert_eq!(select(&[(header::RANGE, range)], 10), of_ten, "{range:?}");
            assert_eq!(select(&[(header::RANGE, range)], 0), of_none, "{range:?} of nothing");
        }
    }

    /// A condition is looked at before a range.
    #[test]
    fn conditions_come_before_ranges() {
        use ContentSelection::{NotModified, Part, Whole};
        let range = (header::RANGE, "bytes=0-0");
        let table: [(&[(HeaderName, &'static str)], ContentSelection); 10] = [
            (&[], Whole),
            (&[(header::IF_NONE_MATCH, "\"0-abc\"")], NotModified),
            (&[(header::IF_NONE_MATCH, "W/\"0-abc\"")], NotModified),
            (&[(header::IF_NONE_MATCH, "\"x\" , \"0-abc\"")], NotModified),
            (&[(header::IF_NONE_MATCH, "*")], NotModified),
            (&[(header::IF_NONE_MATCH, "0-abc")], Whole),
            (&[(header::IF_NONE_MATCH, "\"0-abc\""), range.clone()], NotModified),
            (&[(header::IF_RANGE, "\"0-abc\""), range.clone()], Part(0..1)),
            (&[(header::IF_RANGE, "\"0-abd\""), range.clone()], Whole),
            (&[(header::IF_RANGE, "Wed, 21 Oct 2026 07:28:00 GMT"), range.clone()], Whole),
        ];
        for (headers, expected) in table {
            assert_eq!(select(headers, 10), expected, "{headers:?}");
        }
    }
}
