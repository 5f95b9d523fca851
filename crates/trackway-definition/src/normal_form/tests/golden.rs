//! Definitions and positions as they are stored. The golden files exist on disks and must stay readable:
//! see `docs/formats.md`.

use serde_json::Value;
use trackway_domain::DocumentKind;

use crate::{
    Definition,
    model::{
        Comparison, Condition, ConditionRule, EmitContent, LoopKind, LoopRoundCount, NotesCriteria,
        NotesTextTest, OnFailure, OutputContractForm, RunAnnouncement, StepKind, ValueExpression,
    },
    walk::{LoopDecision, WalkFrameKind, WalkPosition},
};

/// A definition as it is pinned, with everything that one can hold.
const PINNED: &str = include_str!("definition-format-1.json");

/// Its hash, which runs and exported sessions name.
const PINNED_HASH: &str = "sha256-80ee52a5f0830d646c31b465d11a9ddc50332bcfdbf98eff81364a352b063dac";

/// Positions of guided runs, as nodes store them.
const POSITIONS: &str = include_str!("position-format-1.jsonl");

/// The stored form of each variant. A variant that is not listed does not compile.
macro_rules! stored_forms {
    ($list:ident: $($type:ident { $($variant:ident => $form:literal),+ $(,)? })+) => {
        $(const _: fn(&$type) = |value| match value {
            $($type::$variant { .. })|+ => {}
        };)+

        const $list: &[(&str, &str)] =
            &[$($((concat!(stringify!($type), "::", stringify!($variant)), $form),)+)+];
    };
}

stored_forms! { DEFINITION_FORMS:
    StepKind {
        Prompt => r#""kind":{"prompt":"#,
        Ask => r#""kind":{"ask":"#,
        Tool => r#""kind":{"tool":"#,
        Emit => r#""kind":{"emit":"#,
        Announce => r#""kind":{"announce":"#,
        Nested => r#""kind":{"nested":"#,
        Switch => r#""kind":{"switch":"#,
        Loop => r#""kind":{"loop":"#,
        Map => r#""kind":{"map":"#,
        Group => r#""kind":{"group":"#,
    }
    Condition {
        Always => r#""when":"always""#,
        Cel => r#""confirm":{"cel":"#,
        Rule => r#""when":{"rule":"#,
    }
    ConditionRule {
        Test => r#"{"test":{"name":"#,
        Truthy => r#"{"truthy":"#,
        And => r#"{"and":["#,
        Or => r#"{"or":["#,
        Not => r#"{"not":{"truthy":"#,
    }
    Comparison {
        Equals => r#""test":"equals""#,
        NotEquals => r#""test":"not-equals""#,
        Greater => r#""test":"greater""#,
        GreaterOrEqual => r#""test":"greater-or-equal""#,
        Less => r#""test":"less""#,
        LessOrEqual => r#""test":"less-or-equal""#,
        Contains => r#""test":"contains""#,
        StartsWith => r#""test":"starts-with""#,
        EndsWith => r#""test":"ends-with""#,
        Matches => r#""test":"matches""#,
        In => r#""test":"in""#,
        Exists => r#""test":"exists""#,
    }
    OutputContractForm {
        WholeOutput => r#""form":{"whole-output":"#,
        Artifact => r#""form":{"artifact":"#,
    }
    DocumentKind {
        Header => r#""kind":"header""#,
        Log => r#""kind":"log""#,
        Table => r#""kind":"table""#,
        Notes => r#""kind":"notes""#,
        Checkpoint => r#""kind":"checkpoint""#,
    }
    NotesCriteria {
        All => r#""criteria":{"all":["#,
        Any => r#"{"any":["#,
        Not => r#"{"not":{"rule":"#,
        Rule => r#"{"rule":{"message":"#,
    }
    NotesTextTest {
        Contains => r#""test":{"contains":"#,
        Matches => r#""test":{"matches":"#,
        Length => r#""test":{"length":"#,
        Schema => r#""test":{"schema":"#,
    }
    RunAnnouncement {
        Status => r#"{"announce":{"status":"#,
        Reject => r#"{"announce":{"reject":"#,
    }
    EmitContent {
        Text => r#""content":{"text":"#,
        Data => r#""content":{"data":"#,
    }
    LoopKind {
        While => r#""over":{"while":"#,
        Until => r#""over":{"until":"#,
        Decision => r#""over":{"decision":"#,
        Count => r#""over":{"count":"#,
        Each => r#""over":{"each":"#,
    }
    LoopRoundCount {
        Number => r#""count":{"number":"#,
        From => r#""count":{"from":"#,
    }
    ValueExpression {
        Name => r#""list":{"name":"#,
        Cel => r#""list":{"cel":"#,
    }
    OnFailure {
        Fail => r#""on_failure":"fail""#,
        Skip => r#""on_failure":"skip""#,
        Keep => r#""on_failure":"keep""#,
    }
}

stored_forms! { POSITION_FORMS:
    WalkFrameKind {
        Root => r#""kind":"root""#,
        Group => r#""kind":"group""#,
        Switch => r#""kind":{"switch":"#,
        Nested => r#""kind":{"nested":"#,
        Loop => r#""kind":{"loop":"#,
        Map => r#""kind":{"map":"#,
    }
    LoopDecision {
        Continue => r#":"continue""#,
        Stop => r#":"stop""#,
    }
}

fn assert_has_forms(text: &str, forms: &[(&str, &str)]) {
    for (variant, form) in forms {
        assert!(text.contains(form), "no golden file has {variant} ({form})");
    }
}

/// Proves T3: a definition that a run was pinned to reads back, with the same text and the same hash.
#[test]
fn a_pinned_definition_of_format_1_is_readable_and_unchanged() {
    let pinned = PINNED.trim_end();
    let definition = Definition::from_pinned_json(pinned).expect("it is readable");
    assert_eq!(definition.to_canonical_json(), pinned);
    assert_eq!(definition.definition_hash(), PINNED_HASH);
    assert_has_forms(pinned, DEFINITION_FORMS);
}

/// Proves T3 and T12: where a guided run stands reads back.
#[test]
fn positions_of_format_1_are_readable_and_unchanged() {
    for line in POSITIONS.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let position: WalkPosition = serde_json::from_value(value.clone()).expect("it is readable");
        assert_eq!(serde_json::to_value(&position).expect("JSON"), value);
    }
    assert_has_forms(POSITIONS, POSITION_FORMS);
}
