//! Lines as answers.

use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "wallet": { "type": "string" },
            "amount": { "type": "number" },
            "note": { "type": "string" },
        },
        "required": ["wallet", "amount"],
    })
}

/// Proves L6: each line is a field.
#[test]
fn fields_are_given_one_after_the_other() {
    let mut pipe = Answering::new(&schema(), Ask::Required, &Map::new());
    assert_eq!(pipe.take("0x1"), Progress::More);
    assert_eq!(pipe.take("5"), Progress::Whole(json!({ "wallet": "0x1", "amount": 5 })));
    let mut pipe = Answering::new(&schema(), Ask::Required, &Map::new());
    assert_eq!(pipe.take("0x1"), Progress::More);
    assert_eq!(pipe.take("much"), Progress::Again("\"much\" is not a number".to_owned()));

    let mut person = Answering::new(&schema(), Ask::Every, &Map::new());
    assert!(person.prompt().contains("wallet (text)"));
    assert_eq!(person.take("0x1"), Progress::More);
    assert_eq!(person.take("much"), Progress::Again("\"much\" is not a number".to_owned()));
    assert_eq!(person.take("5"), Progress::More);
    assert_eq!(person.take(""), Progress::Whole(json!({ "wallet": "0x1", "amount": 5 })));
}

/// Proves L6: an empty line takes what is offered; a pipe is offered nothing.
#[test]
fn what_is_known_is_offered_to_a_person() {
    let Value::Object(known) = json!({ "wallet": "0x1", "amount": "no number", "note": "x" })
    else {
        unreachable!()
    };
    let mut person = Answering::new(&schema(), Ask::Every, &known);
    assert_eq!(person.prompt(), "  wallet (text) [0x1]: ");
    assert_eq!(person.take(""), Progress::More);
    assert_eq!(person.prompt(), "  amount (number): ");
    assert_eq!(person.take(""), Progress::Again("a value is needed".to_owned()));
    assert_eq!(person.take("5"), Progress::More);
    assert_eq!(person.take(""), Progress::Whole(json!({ "wallet": "0x1", "amount": 5 })));
    let mut pipe = Answering::new(&schema(), Ask::Required, &known);
    assert_eq!(pipe.take(""), Progress::Again("a value is needed".to_owned()));
}

/// Proves L6: everything in one line.
#[test]
fn a_line_can_be_the_whole_answer() {
    let whole = json!({ "wallet": "0x1", "amount": 5 });
    for line in [r#"{"wallet": "0x1", "amount": 5}"#, "wallet=0x1 amount=5"] {
        let progress = Answering::new(&schema(), Ask::Every, &Map::new()).take(line);
        assert_eq!(progress, Progress::Whole(whole.clone()), "{line}");
    }
    // Not every `=` is a field.
    assert_eq!(Answering::new(&schema(), Ask::Required, &Map::new()).take("a=b"), Progress::More);
}

#[test]
fn values_that_are_no_objects_are_asked_for_as_they_are() {
    let mut one = Answering::new(&json!({ "type": "boolean" }), Ask::Required, &Map::new());
    assert_eq!(one.take("perhaps"), Progress::Again("answer y or n".to_owned()));
    assert_eq!(one.take("yes"), Progress::Whole(json!(true)));
    let mut any = Answering::new(&json!({ "type": "array" }), Ask::Required, &Map::new());
    assert!(matches!(any.take("[1"), Progress::Again(_)));
    assert_eq!(any.take("[1]"), Progress::Whole(json!([1])));
}
