//! Lengths of time as people write them: `90d`, `12h`, `30m`, `45s`, `500ms`, `2w`.

use std::time::Duration;

/// Longest accepted span: a hundred years, so that no sum can overflow.
/// Limit (CLI): time span that can be written.
const MILLIS_MAX: u64 = 100 * 366 * 24 * 60 * 60 * 1_000;

pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and ms, s, m, h, d or w, for example 90d".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60 * 1_000,
        "h" => 60 * 60 * 1_000,
        "d" => 24 * 60 * 60 * 1_000,
        "w" => 7 * 24 * 60 * 60 * 1_000,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number
        .checked_mul(unit)
        .filter(|millis| *millis <= MILLIS_MAX)
        .map(Duration::from_millis)
        .ok_or_else(|| "that is longer than a hundred years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_a_number_and_a_unit() {
        for (text, seconds) in
            [("0s", 0), ("45s", 45), ("2m", 120), ("1h", 3_600), ("90d", 7_776_000), ("9000ms", 9)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "90", "-1d", "1.5h", "1 d", "90days", "99999999999w", "9e9d", "ü"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
