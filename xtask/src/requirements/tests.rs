//! Reading the requirements page and the doc comments of tests.

use super::{Claim, Options, claims_in, ids, table};

fn claim(id: &str, test: &str) -> Claim {
    Claim { id: id.to_owned(), test: test.to_owned() }
}

#[test]
fn ids_are_the_first_column_of_the_tables() {
    let page = "| id | what |\n| --- | --- |\n| L1 | a, see L9 |\n| X12 | b |\nL3 | c |\n";
    assert_eq!(ids(page), ["L1", "X12"]);
}

#[test]
fn a_claim_belongs_to_the_function_below_it() {
    let text = "/// Proves L7, L15. More words.\n#[tokio::test]\nasync fn first() {\n}\n\n\
                /// Proves X2,\n/// X5.\n#[test]\nfn second() {\n";
    let expected = [
        claim("L7", "a.rs:3 first"),
        claim("L15", "a.rs:3 first"),
        claim("X2", "a.rs:9 second"),
        claim("X5", "a.rs:9 second"),
    ];
    assert_eq!(claims_in("a.rs", text), expected);
}

#[test]
fn a_claim_without_a_function_proves_nothing() {
    assert_eq!(claims_in("a.rs", "/// Proves L7.\nstruct A;\n\nfn later() {}\n"), []);
    assert_eq!(claims_in("a.rs", "// Proves L7.\nfn plain_comment() {}\n"), []);
}

#[test]
fn a_range_is_kept_so_that_it_is_reported() {
    let found = claims_in("a.rs", "/// Proves L1–L3.\nfn range() {}\n");
    assert_eq!(found, [claim("L1–L3", "a.rs:2 range")]);
}

#[test]
fn the_table_counts_what_no_test_names() {
    let claims = [claim("L1", "a.rs:3 first"), claim("L1", "a.rs:9 second")];
    let whole = table(&["L1", "L2"], &claims, false);
    let rows = "L1   a.rs:3 first\n     a.rs:9 second\nL2   -\n";
    let count = "\n1 of 2 requirements are named by a test; 1 are not.\n";
    assert_eq!(whole, format!("{rows}{count}"));
    assert_eq!(table(&["L1", "L2"], &claims, true), format!("L2   -\n{count}"));
}

#[test]
fn options_are_read_and_others_refused() {
    let parse = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        Options::parse(&words)
    };
    let options = parse(&["page.md", "--for", "l", "--missing"]).expect("all exist");
    assert_eq!(options.page, "page.md");
    assert!(options.missing_only && options.wants("L3") && !options.wants("X3"));
    assert!(parse(&[]).is_err());
    assert!(parse(&["page.md", "--for"]).is_err());
    assert!(parse(&["page.md", "--mising"]).is_err());
}
