//! Reading the requirements page and the doc comments of tests, and filling the page.

use super::page::fill_generated_parts;
use super::{Claim, Options, claims_in, parse_requirements, render_table};

fn claim(id: &str, line: usize, function: &str) -> Claim {
    let (path, function) = ("crates/a/src/a.rs".to_owned(), function.to_owned());
    Claim { id: id.to_owned(), path, line, function }
}

/// The claims of a file, as `id line function`.
fn claimed(text: &str) -> Vec<String> {
    let describe = |claim: Claim| format!("{} {} {}", claim.id, claim.line, claim.function);
    claims_in("a.rs", text).into_iter().map(describe).collect()
}

#[test]
fn requirements_are_headings_that_begin_with_an_id() {
    let page = "# Page\n## L. Group\n### L1 First\nsee L9\n### Other\n### X12 Second\n#### L3 no\n";
    let found: Vec<(&str, usize)> =
        parse_requirements(page).iter().map(|found| (found.id, found.line)).collect();
    assert_eq!(found, [("L1", 3), ("X12", 6)]);
}

#[test]
fn a_claim_belongs_to_the_function_below_it() {
    let text = concat!(
        "/// Proves L7, L15. More words.\n#[tokio::test]\nasync fn first() {\n}\n\n",
        "/// Proves X2,\n/// X5.\n#[test]\nfn second() {\n",
    );
    assert_eq!(claimed(text), ["L7 3 first", "L15 3 first", "X2 9 second", "X5 9 second"]);
}

#[test]
fn every_form_of_a_list_is_read() {
    let of = |doc: &str| claimed(&format!("/// {doc}\nfn f() {{}}\n"));
    assert_eq!(of("Some words. Proves L1 and L2."), ["L1 2 f", "L2 2 f"]);
    assert_eq!(of("Proves L1, L2, and L3: a reason, with commas."), ["L1 2 f", "L2 2 f", "L3 2 f"]);
    assert_eq!(of("Proves L1 over HTTP, as L2 does."), ["L1 2 f"]);
    assert_eq!(of("Proves L1. Proves L2."), ["L1 2 f", "L2 2 f"]);
}

#[test]
fn a_claim_without_a_function_proves_nothing() {
    assert!(claimed("/// Proves L7.\nstruct A;\n\nfn later() {}\n").is_empty());
    assert!(claimed("// Proves L7.\nfn plain_comment() {}\n").is_empty());
}

#[test]
fn a_word_where_an_id_is_due_is_kept_so_that_it_is_reported() {
    assert_eq!(claimed("/// Proves L1–L3.\nfn range() {}\n"), ["L1–L3 2 range"]);
    assert_eq!(claimed("/// Proves L1, Door 5.\nfn f() {}\n"), ["L1 2 f", "Door 2 f"]);
}

#[test]
fn the_table_counts_what_no_test_names() {
    let claims = [claim("L1", 3, "first"), claim("L1", 9, "second")];
    let whole = render_table(&["L1", "L2"], &claims, false);
    let rows = "L1   crates/a/src/a.rs:3 first\n     crates/a/src/a.rs:9 second\nL2   -\n";
    let count = "\n1 of 2 requirements are named by a test; 1 are not.\n";
    assert_eq!(whole, format!("{rows}{count}"));
    assert_eq!(render_table(&["L1", "L2"], &claims, true), format!("L2   -\n{count}"));
}

const PAGE: &str = "\
# Requirements

<!-- overview -->

## L. Life

### L1 Born

It lives.

### L2 Dies

It ends.

## Notes

The end.
";

#[test]
fn a_page_gets_an_overview_and_the_tests_of_each_requirement() {
    let filled = fill_generated_parts(PAGE, &[claim("L1", 3, "first")]).expect("the page is well formed");
    let expected = "\
# Requirements

<!-- overview -->
<!-- generated -->
| group | requirements | with tests | planned |
| --- | --- | --- | --- |
| L. Life | 2 | 1 | L2 |
<!-- end of generated -->

## L. Life

### L1 Born

It lives.

<!-- generated -->
<details><summary>1 test</summary>

- [`first`](../crates/a/src/a.rs)

</details>
<!-- end of generated -->

### L2 Dies

It ends.

<!-- generated -->
*Planned: no test proves it yet.*
<!-- end of generated -->

## Notes

The end.
";
    assert_eq!(filled, expected);
    let again = fill_generated_parts(&filled, &[claim("L1", 3, "first")]).expect("it reads what it wrote");
    assert_eq!(again, filled);
}

#[test]
fn of_many_tests_each_crate_is_shown_and_the_rest_counted() {
    let mut claims: Vec<Claim> = (0..20).map(|n| claim("L1", n, &format!("a{n}"))).collect();
    claims.push(Claim { path: "crates/z/tests/it/z.rs".to_owned(), ..claim("L1", 1, "z") });
    let filled = fill_generated_parts(PAGE, &claims).expect("the page is well formed");
    assert!(filled.contains("<summary>21 tests</summary>"), "{filled}");
    assert!(filled.contains("[`a6`]") && !filled.contains("[`a7`]"), "{filled}");
    assert!(filled.contains("- [`z`](../crates/z/tests/it/z.rs)\n- and 13 more: "), "{filled}");
}

#[test]
fn a_page_that_cannot_be_filled_is_an_error() {
    let no = |page: &str| fill_generated_parts(page, &[]).expect_err("it is not well formed").to_string();
    assert!(no("<!-- generated -->\ntext\n").contains("no `<!-- end"));
    assert!(no("<!-- end of generated -->\n").contains("alternate"));
    assert!(no(&format!("{PAGE}### L1 Again\n")).contains("L1 is defined twice"));
}

#[test]
fn options_are_read_and_others_refused() {
    let parse = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        Options::parse(&words)
    };
    let letter = parse(&["--for", "l", "--missing"]).expect("all exist");
    assert!(letter.missing_only && letter.matches("L3") && !letter.matches("X3"));
    let id = parse(&["--for", "l1"]).expect("an id is taken too");
    assert!(id.matches("L1") && !id.matches("L10"));
    assert!(parse(&["--for"]).is_err());
    assert!(parse(&["page.md"]).is_err());
}
