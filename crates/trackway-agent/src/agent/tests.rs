//! The recorded steps of a turn, and an agent's pinned body, as they are stored. The golden file exists on
//! disks and must stay readable: see `docs/formats.md`.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    model_step::TurnModelOutcome,
    question_reply::SentTaskAnswer,
    tool_call_route::ToolCallRoute,
    turn_start::{OpenSessionQuestion, TurnStartContext},
};
use crate::{
    AgentSpec, ContentPiece, ConversationEntry, FinishReason, ToolArguments, ToolPermission,
    turn_record::{CompactedHistory, ToolCallRecord},
};

/// One record per line, under the first word of its step's key.
const RECORDS: &str = include_str!("tests/recorded-steps-format-1.jsonl");

/// The stored form of each variant. A variant that is not listed does not compile.
macro_rules! stored_forms {
    ($($type:ident { $($variant:ident => $form:literal),+ $(,)? })+) => {
        $(const _: fn(&$type) = |value| match value {
            $($type::$variant { .. })|+ => {}
        };)+

        const FORMS: &[(&str, &str)] =
            &[$($((concat!(stringify!($type), "::", stringify!($variant)), $form),)+)+];
    };
}

stored_forms! {
    TurnModelOutcome {
        Answer => r#"{"model":{"answer":"#,
        Late => r#"{"model":{"limit":"#,
    }
    ToolCallRoute {
        NoTarget => r#"{"no-target":"#,
        Denied => r#","denied","#,
        Tool => r#"{"tool":{"name":"#,
        Workflow => r#"{"workflow":{"name":"#,
        Peer => r#"{"peer":{"peer":"#,
        NotStarted => r#"{"not-started":"#,
        Status => r#"{"status":{"ask":"#,
        Reply => r#"{"reply":{"ask":"#,
        ReplyOfUser => r#","reply-of-user","#,
    }
    FinishReason {
        Stop => r#""finish":"stop""#,
        Calls => r#""finish":"calls""#,
        Length => r#""finish":"length""#,
        Filtered => r#""finish":"filtered""#,
    }
    ToolArguments {
        Json => r#""arguments":{"json":"#,
        Broken => r#""arguments":{"broken":"#,
    }
    ContentPiece {
        Text => r#"{"text":"#,
        Image => r#"{"image":"#,
    }
    ConversationEntry {
        User => r#"{"user":"#,
        Model => r#"{"model":{"text":"#,
        Result => r#"{"result":"#,
    }
    ToolPermission {
        Allow => r#":"allow""#,
        Ask => r#":"ask""#,
        Deny => r#":"deny""#,
    }
}

fn assert_unchanged<T: DeserializeOwned + Serialize>(stored: &Value) {
    let read: T = serde_json::from_value(stored.clone()).unwrap_or_else(|error| panic!("{error}: {stored}"));
    assert_eq!(serde_json::to_value(read).unwrap(), *stored);
}

/// Proves X2: a turn that was recorded in format 1 is understood, and recorded in the same form again.
#[test]
fn recorded_steps_of_format_1_are_readable_and_unchanged() {
    for line in RECORDS.lines() {
        let record: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
        for (key, stored) in &record {
            match key.as_str() {
                "model" => assert_unchanged::<TurnModelOutcome>(stored),
                "call" => assert_unchanged::<ToolCallRecord>(stored),
                "compact" => assert_unchanged::<CompactedHistory>(stored),
                "begin" => assert_unchanged::<TurnStartContext>(stored),
                "find" => assert_unchanged::<OpenSessionQuestion>(stored),
                "send" => assert_unchanged::<SentTaskAnswer>(stored),
                "agent" => assert_unchanged::<AgentSpec>(stored),
                other => panic!("no step has the key {other}"),
            }
        }
    }
    for (variant, form) in FORMS {
        assert!(RECORDS.contains(form), "no record has {variant} ({form})");
    }
}
