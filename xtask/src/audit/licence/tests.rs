//! Expressions as crates write them.

use super::{allowed_licences, check_expression};

const RULES: &str = "[licenses]\nallow = [\n  \"MIT\",\n  \"Apache-2.0 WITH LLVM-exception\",\n]\n";

#[test]
fn a_licence_is_allowed_when_one_of_its_choices_is() {
    let allowed = allowed_licences(RULES);
    assert_eq!(allowed, ["MIT", "Apache-2.0 WITH LLVM-exception"]);
    for good in [
        "MIT",
        "MIT OR GPL-3.0",
        "GPL-3.0/MIT",
        "GPL-3.0 / MIT",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "(GPL-3.0 OR MIT) AND MIT",
    ] {
        assert_eq!(check_expression(good, &allowed), Ok(()), "{good}");
    }
}

#[test]
fn a_licence_that_is_not_allowed_or_cannot_be_read_is_refused() {
    let allowed = allowed_licences(RULES);
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT", "MIT MIT", "OR"] {
        assert!(check_expression(bad, &allowed).is_err(), "{bad}");
    }
}
