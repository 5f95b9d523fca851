//! Explicit forms: `/run`, JSON, `/help`.

use insta::assert_snapshot;

use super::{answer_to_message, check, render_answer, request, user};
use crate::conversation::{ContentPiece, ConversationEntry};

/// Proves X4: values are read by the tool's schema, with quotes and JSON where they are needed.
#[test]
fn a_line_runs_a_tool() {
    check(&[
        ("/run echo text=hello", r#"dispatch_workflow_echo {"text":"hello"}"#),
        ("  /run   echo text=hello ", r#"dispatch_workflow_echo {"text":"hello"}"#),
        (
            "/run echo text=\"hello world\" chunks=3",
            r#"dispatch_workflow_echo {"chunks":3,"text":"hello world"}"#,
        ),
        ("/run echo text='it''s' chunks=3", r#"dispatch_workflow_echo {"chunks":3,"text":"it''s"}"#),
        (r#"/run echo text="a \"quote\"\n""#, r#"dispatch_workflow_echo {"text":"a \"quote\"\n"}"#),
        ("/run echo text=42", r#"dispatch_workflow_echo {"text":"42"}"#),
        ("/run echo text=hello big world", r#"dispatch_workflow_echo {"text":"hello big world"}"#),
        (
            "/run echo text=https://example.org/?a=b",
            r#"dispatch_workflow_echo {"text":"https://example.org/?a=b"}"#,
        ),
        (r#"/run echo text={"a": 1}"#, r#"dispatch_workflow_echo {"text":"{\"a\": 1}"}"#),
        ("/run echo text=x chunks=null", r#"dispatch_workflow_echo {"chunks":null,"text":"x"}"#),
        ("/run echo hello world", r#"dispatch_workflow_echo {"text":"hello world"}"#),
        (r#"/run echo {"text": "hi", "chunks": 2}"#, r#"dispatch_workflow_echo {"chunks":2,"text":"hi"}"#),
        ("/run ECHO Text=hi", r#"dispatch_workflow_echo {"text":"hi"}"#),
        ("/run dispatch_workflow_echo text=hi", r#"dispatch_workflow_echo {"text":"hi"}"#),
        ("/run invest wallet_address=0x1", r#"dispatch_workflow_invest {"walletAddress":"0x1"}"#),
        ("/run paint.wall colour=RED coats=2", r#"dispatch_workflow_paint_wall {"coats":2,"colour":"red"}"#),
        (
            r#"/run paint_wall colour="sky blue" coats=2 glossy=yes rooms=hall,attic size={"w": 2} price=1e2"#,
            r#"dispatch_workflow_paint_wall {"coats":2,"colour":"sky blue","glossy":true,"price":100.0,"rooms":["hall","attic"],"size":{"w":2}}"#,
        ),
        (
            r#"/run paint_wall colour=red coats=1 rooms=["a, b"] note=5"#,
            r#"dispatch_workflow_paint_wall {"coats":1,"colour":"red","note":5,"rooms":["a, b"]}"#,
        ),
        ("/run time", "time {}"),
        ("/run files__read path=/etc/hosts", r#"files__read {"path":"/etc/hosts"}"#),
    ]);
}

#[test]
fn json_that_names_a_workflow_runs_it() {
    check(&[
        (r#"{"workflow":"echo","input":{"text":"hi"}}"#, r#"dispatch_workflow_echo {"text":"hi"}"#),
        (r#"{"workflow":"echo","text":"hi"}"#, r#"dispatch_workflow_echo {"text":"hi"}"#),
        (r#"{"name":"echo","arguments":{"text":"hi"}}"#, r#"dispatch_workflow_echo {"text":"hi"}"#),
        ("```json\n{\"tool\":\"time\"}\n```", "time {}"),
    ]);
    let data = ContentPiece::Text(r#"{"workflow":"echo","input":{"text":"from data"}}"#.to_owned());
    let pieces = vec![ContentPiece::Text("As the form says:".to_owned()), data];
    let shown = render_answer(&request(vec![ConversationEntry::User { pieces }]));
    assert_eq!(shown, r#"dispatch_workflow_echo {"text":"from data"}"#);
}

#[test]
fn attachments_are_not_part_of_a_command() {
    let pieces = ["/run echo text=hi", "notes.txt: a=b"].map(|text| ContentPiece::Text(text.to_owned()));
    let shown = render_answer(&request(vec![ConversationEntry::User { pieces: pieces.into() }]));
    assert_eq!(shown, r#"dispatch_workflow_echo {"text":"hi"}"#);
}

/// Nothing is called with unknown fields or with values that do not match.
#[test]
fn invalid_commands_are_explained() {
    assert_snapshot!("unknown-name", answer_to_message("/run ecco text=hello"));
    assert_snapshot!("unknown-command", answer_to_message("/walk echo"));
    assert_snapshot!("unknown-field", answer_to_message("/run echo txt=hello"));
    assert_snapshot!("given-twice", answer_to_message("/run echo text=a text=b"));
    assert_snapshot!("not-a-number", answer_to_message("/run echo text=a chunks=many"));
    assert_snapshot!("not-a-choice", answer_to_message("/run paint_wall colour=green coats=1"));
    assert_snapshot!("missing", answer_to_message("/run paint_wall glossy=no"));
    assert_snapshot!("bare-words", answer_to_message("/run paint_wall red twice"));
}

#[test]
fn help_lists_what_can_be_run() {
    assert_snapshot!("help", answer_to_message("/help"));
    assert_snapshot!("help-of-one", answer_to_message("/help paint_wall"));
    assert_eq!(answer_to_message("help"), answer_to_message("/help"));
    let greeting = answer_to_message("Good morning!");
    assert_eq!(greeting.matches("/run ").count(), 3, "{greeting}");
    assert!(greeting.ends_with("2 more: help lists all of them, /help NAME explains one."));
    let mut bare = request(vec![user("hello")]);
    bare.tools.clear();
    assert_snapshot!("nothing-to-run", render_answer(&bare));
}
