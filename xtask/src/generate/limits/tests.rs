//! Limits of a few lines of code, as rows of the page.

use super::{collect_limits, render_limits};

fn rows(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<_> = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let page = render_limits(&collect_limits(&files).unwrap()).unwrap();
    page.lines().filter(|line| line.starts_with("| ")).skip(2).map(str::to_owned).collect()
}

fn value(declaration: &str) -> String {
    let text = format!("/// Limit (A2A): x.\n{declaration}\n");
    let rows = rows(&[("crates/a/src/lib.rs", &text)]);
    rows[0].split('|').nth(2).unwrap().trim().to_owned()
}

fn mistake(text: &str) -> String {
    collect_limits(&[("a.rs".to_owned(), text.to_owned())]).unwrap_err().to_string()
}

#[test]
fn a_row_shows_the_limit_its_value_and_where_it_is_defined() {
    let text = "/// Why.\n/// Limit (A2A): parts of one message.\n#[x]\npub(crate) const PARTS_MAX: usize = 1_000;\n";
    let expected = "| parts of one message | 1,000 | [`PARTS_MAX`](../crates/a/src/m.rs) |";
    assert_eq!(rows(&[("crates/a/src/m.rs", text)]), [expected]);
}

#[test]
fn a_configurable_limit_shows_its_key_and_others_leave_the_column_empty() {
    let text = "/// Limit (HTTP): open connections; `[server] max_connections`.\nconst A: usize = 5;\n\
                /// Limit (HTTP): rows; the rest is in `needs`.\nconst B: usize = 6;\n";
    let expected = [
        "| open connections | 5 | `[server] max_connections` | [`A`](../crates/a/src/m.rs) |",
        "| rows; the rest is in `needs` | 6 | | [`B`](../crates/a/src/m.rs) |",
    ];
    assert_eq!(rows(&[("crates/a/src/m.rs", text)]), expected);
}

#[test]
fn values_are_written_in_readable_units() {
    assert_eq!(value("const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;"), "10 MiB");
    assert_eq!(value("const A_BYTES: usize = 1_000;"), "1,000 bytes");
    assert_eq!(value("const CACHE_KIB: i64 = 4 * 1024;"), "4 MiB");
    assert_eq!(value("const A: Duration = Duration::from_secs(24 * 60 * 60);"), "1 day");
    assert_eq!(value("const A: Duration = Duration::from_secs(90);"), "90 s");
    assert_eq!(value("const A: Duration =\n    Duration::from_millis(1_500);"), "1,500 ms");
    assert_eq!(value("const DELAY_MS: u64 = 10 * 60 * 1_000;"), "10 min");
    assert_eq!(value("const X_CHARS_MAX: usize = 500;"), "500 characters");
    assert_eq!(value("const A_DAYS: RangeInclusive<u64> = 1..=36_500;"), "1 day to 36,500 days");
    assert_eq!(value("const A: f64 = 1_000_000.0;"), "1,000,000");
    assert_eq!(value("const A: usize = (3 + 5 - 2) as usize / 4;"), "1");
}

#[test]
fn a_value_made_of_other_constants_is_worked_out_with_the_nearest_of_that_name() {
    let here = "const SIZE: usize = 3;\n/// Limit (A2A): x.\nconst A: usize = SIZE * 2;\n\
                /// Limit (A2A): y.\nconst B: usize = other::DEPTH - 1;\n";
    let there = "pub const SIZE: usize = 30;\npub const DEPTH: usize = 100;\n";
    let rows = rows(&[("crates/a/src/m.rs", here), ("crates/b/src/n.rs", there)]);
    assert!(rows[0].starts_with("| x | 6 |"), "{rows:?}");
    assert!(rows[1].starts_with("| y | 99 |"), "{rows:?}");
}

#[test]
fn a_limit_line_that_cannot_be_read_is_refused_with_its_place() {
    let unknown = "/// Limit (Elsewhere): x.\nconst A: usize = 1;\n";
    assert!(mistake(unknown).contains("a.rs:2: no area `Elsewhere`"), "{}", mistake(unknown));
    let open = "/// Limit (A2A): x\nconst A: usize = 1;\n";
    assert!(mistake(open).contains("full stop"), "{}", mistake(open));
    let orphan = "/// Limit (A2A): x.\nfn a() {}\n";
    assert!(mistake(orphan).contains("a.rs:1: a `Limit` line"), "{}", mistake(orphan));
    let call = "/// Limit (A2A): x.\nconst A: usize = b(1);\n";
    assert!(mistake(call).contains("simple arithmetic"), "{}", mistake(call));
}

#[test]
fn a_limit_over_two_lines_is_one_text() {
    let text = "/// Limit (A2A): parts\n/// of one message.\n/// Why.\nconst A: usize = 1;\n";
    assert!(rows(&[("crates/a/src/m.rs", text)])[0].starts_with("| parts of one message | 1 |"));
}
