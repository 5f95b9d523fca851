//! The wording of answers. A snapshot that changes is a new version of the text.

use insta::assert_snapshot;
use serde_json::json;
use trackway_domain::{BranchPosition, ErrorCode, NodeId, ReplyRenderStamp, RunId, SessionId};
use uuid::Uuid;

use super::*;

fn tokens() -> SignedTokens {
    SignedTokens { state: "st.v1.state".to_owned(), ack: Some("ack.v1.ack".to_owned()) }
}

fn here(pending: Option<PendingStep>) -> GuidedNodeView {
    GuidedNodeView {
        run: RunId::new(Uuid::from_u128(1)),
        session: SessionId::new("TICKET-1").unwrap(),
        workflow: "release-notes".to_owned(),
        hash: "sha256-0".to_owned(),
        node: NodeId::new(Uuid::from_u128(2)),
        ack: None,
        pending,
        guidance: Vec::new(),
        advanced: true,
        branch: BranchPosition { forked: false, index: 0, siblings: 1 },
        warnings: Vec::new(),
        blocked: None,
        stamp: ReplyRenderStamp::default(),
    }
}

fn gather() -> PendingStep {
    PendingStep {
        step: "gather".to_owned(),
        title: "Gather the changes".to_owned(),
        prompt: "List every change since the last release.\n\n- be complete\n".to_owned(),
        confirm: false,
        output: None,
        facts: Vec::new(),
    }
}

/// Proves T7: what to do comes first and the tokens last, each once, alone on its line in a fence.
#[test]
fn a_plain_step() {
    let text = render_position(&here(Some(gather())), &tokens(), "");
    for token in ["st.v1.state", "ack.v1.ack"] {
        assert_eq!(text.matches(token).count(), 1);
        assert!(text.contains(&format!("```\n{token}\n```\n")), "{text}");
    }
    assert_snapshot!(text);
}

/// Proves T7: a prompt that leaves a code block open, or contains a token of another answer, does not
/// change the tokens below it.
#[test]
fn a_prompt_cannot_touch_the_tokens() {
    let prompt = "Like this:\n```sh\nst.v1.old\nst.v1.state\n".to_owned();
    let text = render_position(&here(Some(PendingStep { prompt, ..gather() })), &tokens(), "");
    let alone = |line: &&str| line.starts_with("st.v1.") || line.starts_with("ack.v1.");
    assert_eq!(text.lines().filter(alone).collect::<Vec<_>>(), ["st.v1.state", "ack.v1.ack"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("```")).count(), 6, "{text}");
    assert_eq!(text.matches("st.v1.state").count(), 1, "{text}");
}

/// Proves T7: the text has the rules, the form of the output, a person's agreement, a fork and a warning.
#[test]
fn a_step_with_everything() {
    let output =
        ExpectedOutput { schema: json!({ "type": "object" }), example: json!({ "n": 1 }), required: true };
    let pending = PendingStep { confirm: true, output: Some(output), ..gather() };
    let mut at = here(Some(pending));
    at.guidance = vec!["Be brief.".to_owned(), "Two\nlines.".to_owned()];
    at.branch = BranchPosition { forked: true, index: 1, siblings: 2 };
    at.warnings = vec![GuidedRunWarning::new("definition-changed", "It changed.")];
    assert_snapshot!(render_position(&at, &tokens(), ""));
}

/// Proves T7, T9.
#[test]
fn the_end() {
    let tokens = SignedTokens { ack: None, ..tokens() };
    assert_snapshot!(render_position(&here(None), &tokens, ""));
}

/// Proves T13: a blocked answer names each need and says to send the fresh ack.
#[test]
fn a_block() {
    let mut at = here(Some(gather()));
    at.blocked = Some(BlockReason {
        code: "output-invalid".to_owned(),
        message: "The output does not fit.".to_owned(),
        needs: vec![
            InputRequirement {
                pointer: "/output/review/title".to_owned(),
                message: "it is missing".to_owned(),
                schema: Some(json!({ "type": "string" })),
                example: Some("A title".into()),
                got: None,
            },
            InputRequirement {
                pointer: "/context/items".to_owned(),
                message: "a list is needed".to_owned(),
                got: Some(json!(3)),
                ..InputRequirement::default()
            },
        ],
    });
    assert_snapshot!(render_position(&at, &tokens(), ""));
}

/// Proves T7: the text does not ask an agent to continue a run that a user ended.
#[test]
fn a_run_that_is_over() {
    let mut at = here(Some(gather()));
    let message = "run-1 was canceled and cannot go on.".to_owned();
    at.blocked = Some(BlockReason { code: "run-ended".to_owned(), message, needs: Vec::new() });
    assert_snapshot!(render_position(&at, &SignedTokens { ack: None, ..tokens() }, ""), @r"
    # Over: run-ended

    run-1 was canceled and cannot go on.

    stateToken:
    ```
    st.v1.state
    ```
    ");
}

/// Proves T7: a step says which facts later steps depend on, with the values that they are compared with.
#[test]
fn wanted_facts_are_named() {
    let fact = |name: &str, values: Vec<Value>| MissingFact {
        name: name.to_owned(),
        values,
        steps: vec!["later".to_owned()],
    };
    let facts = vec![fact("size", vec![json!("S"), json!("L")]), fact("files", vec![])];
    assert_snapshot!(render_position(&here(Some(PendingStep { facts, ..gather() })), &tokens(), ""));
}

/// Proves T9: a step whose title looks like the end is not mistaken for it.
#[test]
fn no_step_looks_like_the_end() {
    let end = render_position(&here(None), &SignedTokens { ack: None, ..tokens() }, "");
    let heading = end.lines().next().unwrap_or_default();
    for title in ["Complete", "=== END OF THE RUN ===", "\n=== END OF THE RUN ==="] {
        let step =
            render_position(&here(Some(PendingStep { title: title.to_owned(), ..gather() })), &tokens(), "");
        assert!(!step.lines().any(|line| line == heading), "{step}");
    }
}

/// Proves T13: a judgement that asks for more work gets an answer with the work, and without another
/// judgement.
#[test]
fn a_followup_asks_for_work() {
    let mut at = here(Some(gather()));
    at.blocked = Some(BlockReason {
        code: "followup-required".to_owned(),
        message: "Write the tests that are missing.".to_owned(),
        needs: vec![InputRequirement {
            pointer: "/output/artifacts/0/dimensions/evidence".to_owned(),
            message: "Write the tests that are missing.".to_owned(),
            ..InputRequirement::default()
        }],
    });
    assert_snapshot!(render_position(&at, &tokens(), ""));
}

/// Proves T6: only the answer that made a branch announces it.
#[test]
fn a_look_announces_no_branch() {
    let mut at = here(Some(gather()));
    at.branch = BranchPosition { forked: true, index: 1, siblings: 2 };
    assert!(render_position(&at, &tokens(), "").contains("(2 of 2)"));
    at.advanced = false;
    assert_eq!(render_position(&at, &tokens(), ""), render_position(&here(Some(gather())), &tokens(), ""));
}

/// Proves T14, T8.
#[test]
fn checkpoints_and_refusals() {
    assert_snapshot!("checkpoint", render_node_checkpoint(&here(Some(gather())), &tokens(), false));
    assert_snapshot!("checkpoint_repeated", render_node_checkpoint(&here(Some(gather())), &tokens(), true));
    assert_snapshot!("checkpoint_of_session", render_session_checkpoint("TICKET-1", false));
    let mut refused = ToolRefusal::new(ErrorCode::TokenChanged, "stateToken: it was altered", "Copy it.");
    refused.needs = vec![InputRequirement {
        pointer: "/stateToken".to_owned(),
        message: "altered".to_owned(),
        ..InputRequirement::default()
    }];
    assert_snapshot!("refusal", render_refusal(&refused));
}
