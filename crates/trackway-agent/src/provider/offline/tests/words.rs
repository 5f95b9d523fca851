//! Words without a form: which tool is meant, and what they say about its fields.

use insta::assert_snapshot;

use super::{check, done, request, shown, user};
use crate::conversation::ToolSpec;

/// Arguments hold only what the user wrote.
#[test]
fn words_choose_a_tool_and_fill_its_fields() {
    check(&[
        ("echo hello world", r#"dispatch_workflow_echo {"text":"hello world"}"#),
        ("Echo: \"hello\"", r#"dispatch_workflow_echo {"text":"hello"}"#),
        ("please echo \"hello there\"", r#"dispatch_workflow_echo {"text":"hello there"}"#),
        ("Say «guten Tag» back, it's an echo", r#"dispatch_workflow_echo {"text":"guten Tag"}"#),
        ("run echo with text=hi", r#"dispatch_workflow_echo {"text":"hi"}"#),
        (r#"echo this: {"text": "x", "other": 1}"#, r#"dispatch_workflow_echo {"text":"x"}"#),
        ("Invest from wallet 0x123", r#"dispatch_workflow_invest {"walletAddress":"0x123"}"#),
        (
            "I want to invest, the wallet address is 0x123, chain id 42161.",
            r#"dispatch_workflow_invest {"chainId":42161,"walletAddress":"0x123"}"#,
        ),
        (
            "make an investment from wallet 0x9!",
            r#"dispatch_workflow_invest {"walletAddress":"0x9"}"#,
        ),
        (
            "paint the wall red, 2 coats",
            r#"dispatch_workflow_paint_wall {"coats":2,"colour":"red"}"#,
        ),
        (
            "paint the wall red with coats of 3",
            r#"dispatch_workflow_paint_wall {"coats":3,"colour":"red"}"#,
        ),
        ("What time is it?", "time {}"),
        ("read the file with path /etc/hosts", r#"files__read {"path":"/etc/hosts"}"#),
    ]);
}

/// A tool for answers is called by its name alone: nobody means it by the word.
#[test]
fn answers_are_not_tools() {
    let mut request = request(vec![user("the answer is a task")]);
    let reply = ToolSpec { name: "answer_task".to_owned(), ..(*request.tools[0]).clone() };
    request.tools = vec![reply.into()];
    assert!(shown(&request).starts_with("offline-rules/1"));
    request.entries = vec![user("/run answer_task")];
    assert_eq!(shown(&request), "answer_task {}");
}

/// What is not written is asked for; a plain word behind a field's name is no value.
#[test]
fn what_is_missing_is_asked_for() {
    assert_snapshot!("say-back", done(&["Say hello back to me"]));
    assert_snapshot!("which-wallet", done(&["Invest from my wallet please"]));
    assert_snapshot!("which-of-several", done(&["invest and paint"]));
}
