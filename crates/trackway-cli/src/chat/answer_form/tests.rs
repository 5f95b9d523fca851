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
    let mut pipe = AnswerForm::new(&schema(), FieldSelection::Required, &Map::new());
    assert_eq!(pipe.accept_answer_line("0x1"), AnswerProgress::NeedsLine);
    assert_eq!(
        pipe.accept_answer_line("5"),
        AnswerProgress::Complete(json!({ "wallet": "0x1", "amount": 5 }))
    );
    let mut pipe = AnswerForm::new(&schema(), FieldSelection::Required, &Map::new());
    assert_eq!(pipe.accept_answer_line("0x1"), AnswerProgress::NeedsLine);
    assert_eq!(
        pipe.accept_answer_line("much"),
        AnswerProgress::Invalid("\"much\" is not a number".to_owned())
    );

    let mut person = AnswerForm::new(&schema(), FieldSelection::All, &Map::new());
    assert!(person.render_answer_prompt().contains("wallet (text)"));
    assert_eq!(person.accept_answer_line("0x1"), AnswerProgress::NeedsLine);
    assert_eq!(
        person.accept_answer_line("much"),
        AnswerProgress::Invalid("\"much\" is not a number".to_owned())
    );
    assert_eq!(person.accept_answer_line("5"), AnswerProgress::NeedsLine);
    assert_eq!(
        person.accept_answer_line(""),
        AnswerProgress::Complete(json!({ "wallet": "0x1", "amount": 5 }))
    );
}

/// Proves L6: an empty line takes what is offered; a pipe is offered nothing.
#[test]
fn what_is_known_is_offered_to_a_person() {
    let Value::Object(known) = json!({ "wallet": "0x1", "amount": "no number", "note": "x" }) else {
        unreachable!()
    };
    let mut person = AnswerForm::new(&schema(), FieldSelection::All, &known);
    assert_eq!(person.render_answer_prompt(), "  wallet (text) [0x1]: ");
    assert_eq!(person.accept_answer_line(""), AnswerProgress::NeedsLine);
    assert_eq!(person.render_answer_prompt(), "  amount (number): ");
    assert_eq!(person.accept_answer_line(""), AnswerProgress::Invalid("a value is needed".to_owned()));
    assert_eq!(person.accept_answer_line("5"), AnswerProgress::NeedsLine);
    assert_eq!(
        person.accept_answer_line(""),
        AnswerProgress::Complete(json!({ "wallet": "0x1", "amount": 5 }))
    );
    let mut pipe = AnswerForm::new(&schema(), FieldSelection::Required, &known);
    assert_eq!(pipe.accept_answer_line(""), AnswerProgress::Invalid("a value is needed".to_owned()));
}

/// Proves L6: everything in one line.
#[test]
fn a_line_can_be_the_whole_answer() {
    let whole = json!({ "wallet": "0x1", "amount": 5 });
    for line in [r#"{"wallet": "0x1", "amount": 5}"#, "wallet=0x1 amount=5"] {
        let progress = AnswerForm::new(&schema(), FieldSelection::All, &Map::new()).accept_answer_line(line);
        assert_eq!(progress, AnswerProgress::Complete(whole.clone()), "{line}");
    }
    // Not every `=` is a field.
    assert_eq!(
        AnswerForm::new(&schema(), FieldSelection::Required, &Map::new()).accept_answer_line("a=b"),
        AnswerProgress::NeedsLine
    );
}

#[test]
fn values_that_are_no_objects_are_asked_for_as_they_are() {
    let mut one = AnswerForm::new(&json!({ "type": "boolean" }), FieldSelection::Required, &Map::new());
    assert_eq!(one.accept_answer_line("perhaps"), AnswerProgress::Invalid("answer y or n".to_owned()));
    assert_eq!(one.accept_answer_line("yes"), AnswerProgress::Complete(json!(true)));
    let mut any = AnswerForm::new(&json!({ "type": "array" }), FieldSelection::Required, &Map::new());
    assert!(matches!(any.accept_answer_line("[1"), AnswerProgress::Invalid(_)));
    assert_eq!(any.accept_answer_line("[1]"), AnswerProgress::Complete(json!([1])));
}
