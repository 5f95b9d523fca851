//! Near words are found, far ones are not.

use super::nearest_known_word;

const KEYS: &[&str] =
    &["id", "title", "prompt", "promptBlocks", "requireConfirmation", "outputContract", "body"];

/// Proves T9: an unknown key is reported with the one that the author probably meant. Case and separators do
/// not matter; a short word with half of its letters changed is another word.
#[test]
fn misspelled_word_finds_the_known_one() {
    let long = "prompt".repeat(50);
    for (word, meant) in [
        ("promt", Some("prompt")),
        ("prmopt", Some("prompt")),
        ("prompts", Some("prompt")),
        ("tilte", Some("title")),
        ("outputContact", Some("outputContract")),
        ("boby", Some("body")),
        ("output_contact", Some("outputContract")),
        ("output_contract", Some("outputContract")),
        ("REQUIRE-CONFIRMATION", Some("requireConfirmation")),
        ("Prompt_Blocks", Some("promptBlocks")),
        ("banana", None),
        ("", None),
        ("x", None),
        ("ab", None),
        (&long, None),
    ] {
        assert_eq!(nearest_known_word(word, KEYS.iter().copied()), meant, "{word}");
    }
}

#[test]
fn nearest_suggestion_wins_over_the_first() {
    assert_eq!(nearest_known_word("whiles", ["while_2", "while"]), Some("while"));
    assert_eq!(nearest_known_word("forEach", ["for", "foreach"]), Some("foreach"));
}

/// Proves X5: a name that is mistyped in the terminal is recognised, and another word is not.
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
        assert_eq!(nearest_known_word(word, known), meant, "{word}");
    }
}
