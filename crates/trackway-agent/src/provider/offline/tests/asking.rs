//! Questions for a missing field, and the replies to them.

use insta::assert_snapshot;
use serde_json::json;

use super::{done, model, request, shown, user};
use crate::OpenNote;

/// Exactly the missing field is asked for, one at a time, and the reply fills it.
#[test]
fn a_reply_fills_the_missing_field() {
    assert_snapshot!("asks-for-text", done(&["/run echo"]));
    let table: &[(&[&str], &str)] = &[
        (
            &["/run echo", "good morning to you"],
            r#"dispatch_workflow_echo {"text":"good morning to you"}"#,
        ),
        (
            &["/run echo chunks=2", "\"quoted\""],
            r#"dispatch_workflow_echo {"chunks":2,"text":"quoted"}"#,
        ),
        (&["/run echo", "text=hi chunks=4"], r#"dispatch_workflow_echo {"chunks":4,"text":"hi"}"#),
        (&["/run echo", "a=b"], r#"dispatch_workflow_echo {"text":"a=b"}"#),
        (&["/run echo", "/run time"], "time {}"),
        (
            &["/run paint_wall", "red", "3"],
            r#"dispatch_workflow_paint_wall {"coats":3,"colour":"red"}"#,
        ),
        (
            &["/run paint_wall", "green", "sky blue", "some", "3"],
            r#"dispatch_workflow_paint_wall {"coats":3,"colour":"sky blue"}"#,
        ),
        (
            &["paint the wall", "coats=2 colour=red"],
            r#"dispatch_workflow_paint_wall {"coats":2,"colour":"red"}"#,
        ),
        (
            &["/run paint_wall glossy=perhaps", "no", "red", "1"],
            r#"dispatch_workflow_paint_wall {"coats":1,"colour":"red","glossy":false}"#,
        ),
        (
            &["/run echo chunks=many text=hi", "2"],
            r#"dispatch_workflow_echo {"chunks":2,"text":"hi"}"#,
        ),
    ];
    for (messages, expected) in table {
        assert_eq!(done(messages), *expected, "for {messages:?}");
    }
    assert_snapshot!("asks-again", done(&["/run paint_wall", "green"]));
}

/// A message that fits nothing while a task waits may have been meant for the task.
#[test]
fn an_open_question_is_told_again() {
    let schema = json!({
        "type": "object", "properties": { "amount": { "type": "number" } }, "required": ["amount"]
    });
    let mut request = request(vec![user("a whole lot")]);
    request.open.push(OpenNote {
        person_only: false,
        task_id: "run_1".to_owned(),
        workflow: "invest".to_owned(),
        asks: "How much?\nThere is a limit.".to_owned(),
        schema: Some(schema),
    });
    assert_snapshot!("open-question", shown(&request));
    request.entries = vec![user("what time is it?")];
    assert_eq!(shown(&request), "time {}");
    request.entries = vec![user("/help")];
    assert_eq!(shown(&request), done(&["/help"]));
}

/// Only a question that these rules would have asked makes the next message a reply.
#[test]
fn another_models_words_are_no_question_of_ours() {
    let entries =
        vec![user("/run echo"), model("Which text shall it be?"), user("what time is it")];
    assert_eq!(shown(&request(entries)), "time {}");
}

/// However long a conversation is, understanding its last message ends.
#[test]
fn a_long_row_of_questions_is_cut() {
    let mut messages = vec!["/run paint_wall"];
    messages.extend(["green"; 100]);
    messages.push("/run time");
    assert_eq!(done(&messages), "time {}");
}
