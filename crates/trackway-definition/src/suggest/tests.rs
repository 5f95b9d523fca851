//! Near words are found, far ones are not.

use super::nearest;

const KEYS: &[&str] =
    &["id", "title", "prompt", "promptBlocks", "requireConfirmation", "outputContract", "body"];

fn check(word: &str, expected: Option<&str>) {
    assert_eq!(nearest(word, KEYS.iter().copied()), expected, "{word}");
}

/// Proves T9: an unknown key is told together with the one that was probably meant.
#[test]
fn a_slip_of_the_pen_finds_its_word() {
    check("promt", Some("prompt"));
    check("prmopt", Some("prompt"));
    check("prompts", Some("prompt"));
    check("tilte", Some("title"));
    check("outputContact", Some("outputContract"));
    check("boby", Some("body"));
    check("output_contact", Some("outputContract"));
}

#[test]
fn case_and_joints_do_not_matter() {
    check("output_contract", Some("outputContract"));
    check("REQUIRE-CONFIRMATION", Some("requireConfirmation"));
    check("Prompt_Blocks", Some("promptBlocks"));
}

#[test]
fn far_words_and_short_words_find_nothing() {
    check("banana", None);
    check("", None);
    check("x", None);
    // Two letters of two are wrong: that is another word.
    check("ab", None);
    check(&"prompt".repeat(50), None);
}

#[test]
fn the_nearest_wins_over_the_first() {
    assert_eq!(nearest("whiles", ["while_2", "while"]), Some("while"));
    assert_eq!(nearest("forEach", ["for", "foreach"]), Some("foreach"));
}

/// Proves X5: a name that is mistyped at the terminal is recognised, and another word is not.
#[test]
fn names_of_workflows_are_recognised() {
    let known = ["approve", "echo", "fails", "family", "invest", "ledger", "review"];
    for (word, meant) in [
        ("ecko", Some("echo")),
        ("ehco", Some("echo")),
        ("reveiw", Some("review")),
        ("fail", Some("fails")),
        ("invst", Some("invest")),
        ("deploy", None),
    ] {
        assert_eq!(nearest(word, known), meant, "{word}");
    }
}
