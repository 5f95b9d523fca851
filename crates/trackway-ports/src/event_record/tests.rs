//! Records as they are stored. The files beside this one hold records that exist on disks and must stay
//! readable: see `docs/formats.md`.

use trackway_domain::{
    AttemptOutcome, ChildFirstAnswerKind, CrossRunErrand, DocumentKind, Event, FileSource, GuidedRunEvent,
    InterruptReason, MessagePartContent, MessageRole, OpKind, StateName, StepOutcome,
};

use crate::{FORMAT_LATEST, decode_event, encode_event};

/// Events in format 1: each kind with everything that it can hold, and with as little as it may.
const EVENTS: &str = include_str!("format-1.jsonl");

/// Errands as the outbox stores them.
const ERRANDS: &str = include_str!("format-1-errands.jsonl");

/// The stored form of each variant of each stored enum. A variant that is not listed does not compile.
macro_rules! stored_forms {
    ($($type:ident { $($variant:ident => $form:literal),+ $(,)? })+) => {
        $(const _: fn(&$type) = |value| match value {
            $($type::$variant { .. })|+ => {}
        };)+

        /// Name of the variant, and what a record that contains it contains.
        const FORMS: &[(&str, &str)] =
            &[$($((concat!(stringify!($type), "::", stringify!($variant)), $form),)+)+];
    };
}

stored_forms! {
    Event {
        Submitted => r#"{"submitted":"#,
        Started => r#""started""#,
        Status => r#"{"status":"#,
        Artifact => r#"{"artifact":"#,
        Asked => r#"{"asked":"#,
        Refused => r#"{"refused":"#,
        Resumed => r#"{"resumed":"#,
        LateAnswer => r#"{"late-answer":"#,
        Noted => r#"{"noted":"#,
        Withdrawn => r#"{"withdrawn":"#,
        StepDone => r#"{"step-done":"#,
        StepAttemptFailed => r#"{"step-attempt-failed":"#,
        StepNoted => r#"{"step-noted":"#,
        ValueRecorded => r#"{"value-recorded":"#,
        Slept => r#"{"slept":"#,
        Woke => r#"{"woke":"#,
        ChildStarted => r#"{"child-started":"#,
        ChildEnded => r#"{"child-ended":"#,
        ChildWaits => r#"{"child-waits":"#,
        ChildResumed => r#"{"child-resumed":"#,
        RunAnswered => r#"{"run-answered":"#,
        Answered => r#"{"answered":"#,
        Parked => r#"{"parked":"#,
        Unparked => r#""unparked""#,
        Imported => r#""imported""#,
        Adopted => r#""adopted""#,
        Guided => r#"{"guided":"#,
        Completed => r#"{"completed":"#,
        Failed => r#"{"failed":"#,
        Canceled => r#""canceled""#,
        Rejected => r#"{"rejected":"#,
    }
    GuidedRunEvent {
        Opened => r#"{"guided":{"opened":"#,
        Attempted => r#"{"guided":{"attempted":"#,
        Checkpointed => r#"{"guided":{"checkpointed":"#,
        Repinned => r#"{"guided":{"repinned":"#,
    }
    AttemptOutcome {
        Advanced => r#""outcome":{"advanced":"#,
        Blocked => r#""outcome":{"blocked":"#,
    }
    StepOutcome {
        Ok => r#""outcome":{"ok":"#,
        Err => r#""outcome":{"err":"#,
    }
    StateName {
        Submitted => r#""state":"submitted""#,
        Working => r#""state":"working""#,
        InputRequired => r#""state":"input-required""#,
        AuthRequired => r#""state":"auth-required""#,
        Completed => r#""state":"completed""#,
        Failed => r#""state":"failed""#,
        Canceled => r#""state":"canceled""#,
        Rejected => r#""state":"rejected""#,
        Unknown => r#""state":"unknown""#,
    }
    ChildFirstAnswerKind {
        Answered => r#"{"kind":"answered""#,
        Rejected => r#"{"kind":"rejected""#,
        InputRequired => r#"{"kind":"input-required""#,
        AuthRequired => r#"{"kind":"auth-required""#,
        Failed => r#"{"kind":"failed""#,
    }
    InterruptReason {
        InputRequired => r#""reason":"input-required""#,
        AuthRequired => r#""reason":"auth-required""#,
    }
    MessageRole {
        User => r#""role":"user""#,
        Agent => r#""role":"agent""#,
    }
    MessagePartContent {
        Text => r#"{"text":"#,
        Data => r#"{"data":"#,
        File => r#"{"file":"#,
    }
    FileSource {
        Base64 => r#""source":{"base64":"#,
        Uri => r#""source":{"uri":"#,
    }
    DocumentKind {
        Header => r#""kind":"header""#,
        Log => r#""kind":"log""#,
        Table => r#""kind":"table""#,
        Notes => r#""kind":"notes""#,
        Checkpoint => r#""kind":"checkpoint""#,
    }
    OpKind {
        Status => r#""op":"status:"#,
        Artifact => r#""op":"artifact:"#,
        Ask => r#""op":"ask:"#,
        Step => r#""op":"step:"#,
        Sleep => r#""op":"sleep:"#,
        Now => r#""op":"now:"#,
        Random => r#""op":"random:"#,
        Child => r#""op":"child:"#,
        Answer => r#""op":"answer:"#,
        Reject => r#""op":"reject:"#,
    }
    CrossRunErrand {
        CancelChild => r#"{"cancel-child":"#,
        RunExit => r#"{"run-exit":"#,
        NotifyParent => r#"{"notify-parent":"#,
        NotifyWaiting => r#"{"notify-waiting":"#,
        DeliverFirstAnswer => r#"{"deliver-first-answer":"#,
        ReleaseStepNote => r#"{"release-step-note":"#,
    }
}

/// Proves T12 and X2: a log of format 1 reads back, and is written in the same form again.
#[test]
fn events_of_format_1_are_readable_and_unchanged() {
    for line in EVENTS.lines() {
        let event = decode_event(1, line).unwrap_or_else(|error| panic!("{error:?}: {line}"));
        assert_eq!(encode_event(&event), line);
        assert_eq!(decode_event(FORMAT_LATEST, &encode_event(&event)).unwrap(), event);
    }
}

/// Proves X2: work that one run owes to another survives in the form in which it was stored.
#[test]
fn errands_of_format_1_are_readable_and_unchanged() {
    for line in ERRANDS.lines() {
        let errand: CrossRunErrand =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_string(&errand).unwrap(), line);
    }
}

/// Proves T12: no stored variant is without a record that keeps it readable.
#[test]
fn every_stored_variant_has_a_record() {
    let lines: Vec<&str> = EVENTS.lines().chain(ERRANDS.lines()).collect();
    for (variant, form) in FORMS {
        // An outermost form begins the line; a nested one is anywhere in it.
        let is_outermost = variant.starts_with("Event::") || variant.starts_with("Errand::");
        let contains = |line: &&str| if is_outermost { line.starts_with(form) } else { line.contains(form) };
        assert!(lines.iter().any(contains), "no record has {variant} ({form})");
    }
}

/// Proves T12: the name of an event in tables and screens is the name under which it is stored.
#[test]
fn an_event_is_stored_under_its_name() {
    for line in EVENTS.lines() {
        let name = decode_event(1, line).unwrap().event_name();
        let outermost = line.strip_prefix(r#"{"guided":"#).unwrap_or(line);
        let stored = outermost.trim_start_matches('{').split('"').nth(1);
        assert_eq!(stored, Some(name), "{line}");
    }
}
