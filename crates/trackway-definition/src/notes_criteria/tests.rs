//! Tests of criteria.

use serde_json::json;

use super::*;
use crate::model::{Condition, ConditionRule};

fn rule(test: NotesTextTest) -> NotesCriteria {
    NotesCriteria::Rule { when: None, test, message: String::new() }
}

fn contains(part: &str) -> NotesCriteria {
    rule(NotesTextTest::Contains(part.to_owned()))
}

fn length(min: Option<u64>, max: Option<u64>) -> NotesCriteria {
    rule(NotesTextTest::Length { min, max })
}

fn matches(pattern: &str) -> NotesCriteria {
    rule(NotesTextTest::Matches(pattern.to_owned()))
}

/// Proves T7: notes are checked, and an offered example fits.
#[test]
fn invalid_notes_get_a_message_and_example() {
    let number = || {
        rule(NotesTextTest::Schema(
            json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}),
        ))
    };
    for (criteria, good, bad) in [
        (contains("Done"), "All Done.", "done"),
        (length(Some(5), None), "größe", "grün"),
        (length(None, Some(3)), "äöü", "abcd"),
        (matches("(?i)^done$"), "DONE", "not done"),
        (number(), "{\"n\": 1}", "{\"n\": \"1\"}"),
        (number(), " {\"n\": 2} ", "no json"),
        (
            NotesCriteria::All(vec![contains("a"), contains("b"), length(Some(10), Some(40))]),
            "a and b and more",
            "a",
        ),
        (NotesCriteria::Any(vec![contains("a"), contains("b")]), "b", "c"),
        (NotesCriteria::Not(Box::new(contains("TODO"))), "done", "TODO"),
    ] {
        assert_eq!(check_notes(&criteria, Some(good), &Object::new()), Ok(()), "{criteria:?}");
        let block = check_notes(&criteria, Some(bad), &Object::new()).unwrap_err();
        assert_eq!(
            (block.code.as_str(), block.needs[0].pointer.as_str()),
            ("notes-invalid", "/notesMarkdown")
        );
        assert_eq!(block.needs[0].got, Some(json!(bad)));
        assert!(!block.message.is_empty());
        let example = block.needs[0].example.clone();
        let example = example.unwrap_or_else(|| panic!("{criteria:?}"));
        assert_eq!(check_notes(&criteria, example.as_str(), &Object::new()), Ok(()));
    }
    assert_eq!(check_notes(&NotesCriteria::All(vec![]), None, &Object::new()), Ok(()));
    assert_eq!(check_notes(&NotesCriteria::Any(vec![]), None, &Object::new()), Ok(()));
}

#[test]
fn the_file_says_in_its_words_what_is_wrong() {
    let criteria = NotesCriteria::Rule {
        when: None,
        test: NotesTextTest::Contains("x".to_owned()),
        message: "Say x.".to_owned(),
    };
    let block = check_notes(&criteria, None, &Object::new()).unwrap_err();
    assert_eq!((block.message.as_str(), &block.needs[0].got), ("Say x.", &None));
    // An example that cannot be built is not offered.
    let block = check_notes(&matches("(?=.*[0-9])(?!x)"), Some("x"), &Object::new()).unwrap_err();
    assert_eq!(block.needs[0].example, None);
}

/// Proves T7: the rule is added if the file's words do not name it, and given as a schema.
#[test]
fn text_rule_has_a_message_and_an_example() {
    let told = |test| NotesCriteria::Rule { when: None, test, message: "Name the ticket.".to_owned() };
    let ticket = || told(NotesTextTest::Matches("[A-Z]+-\\d+".to_owned()));
    let either = NotesCriteria::Any(vec![matches("(?!x)y"), contains("A1")]);
    for (criteria, message, example, schema) in [
        (
            ticket(),
            "Name the ticket (The notes have to match `[A-Z]+-\\d+`)",
            "A-1",
            json!({"type": "string", "pattern": "[A-Z]+-\\d+"}),
        ),
        (
            NotesCriteria::All(vec![ticket(), length(Some(5), None)]),
            "Name the ticket (The notes have to match `[A-Z]+-\\d+`); The notes have to have at least 5 characters",
            "A-1……",
            json!({"type": "string", "allOf": [{"pattern": "[A-Z]+-\\d+"}, {"minLength": 5}]}),
        ),
        (
            matches("^\\d{3}$"),
            "The notes have to match `^\\d{3}$`",
            "111",
            json!({"type": "string", "pattern": "^\\d{3}$"}),
        ),
        (
            either,
            "The notes have to match `(?!x)y`, or: The notes have to contain \"A1\"",
            "A1",
            json!({"type": "string", "anyOf": [{}, {"pattern": "A1"}]}),
        ),
    ] {
        let block = check_notes(&criteria, None, &Object::new()).unwrap_err();
        assert_eq!(block.message, message);
        assert_eq!(block.needs[0].example, Some(json!(example)), "{message}");
        assert_eq!(block.needs[0].schema, Some(schema), "{message}");
        assert_eq!(check_notes(&criteria, Some(example), &Object::new()), Ok(()), "{message}");
    }
}

#[test]
fn a_rule_counts_where_its_condition_holds() {
    let when = |condition| NotesCriteria::Rule {
        when: Some(condition),
        test: NotesTextTest::Contains("x".to_owned()),
        message: String::new(),
    };
    let strict = Condition::Rule(ConditionRule::Truthy { name: "strict".to_owned() });
    assert_eq!(check_notes(&when(strict.clone()), Some("a"), &Object::new()), Ok(()));
    let context = json!({"strict": true}).as_object().cloned().unwrap();
    assert!(check_notes(&when(strict), Some("a"), &context).is_err());
    let block = check_notes(&when(Condition::Cel("unset".to_owned())), Some("a"), &context).unwrap_err();
    assert_eq!(block.code, "context-missing");
}

/// No pattern takes long, and an unusable one is refused when it is read.
#[test]
fn patterns_are_safe() {
    let long = format!("{}!", "a".repeat(50_000));
    assert!(check_notes(&matches("^(a+)+$"), Some(&long), &Object::new()).is_err());
    assert!(notes_pattern_error("[z-a]").is_some());
    assert_eq!(notes_pattern_error("(?<=a)b"), None);
    assert_eq!(notes_pattern_error("(?i)ok"), None);
    assert!(check_notes(&matches("("), Some("("), &Object::new()).is_err());
}
