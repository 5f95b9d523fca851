//! Logs of turns, and their conversations.

use serde_json::json;
use trackway_domain::{
    CallChain, Caller, Event, Failure, Message, MessageId, Op, Part, RunId, RunSubmission, SessionId,
    Timestamp, WorkflowRef,
};

use super::*;
use crate::{
    AgentTurn, ContentPiece, ModelAnswer, NextTurnAction, ToolArguments, ToolUse, TurnRequestContext,
    samples::{self, agent, model},
};

fn message(text: &str) -> Message {
    Message::new(
        MessageId::new("m").unwrap(),
        MessageRole::User,
        vec![Part::text(text), Part::data(json!(1))],
    )
}

fn submitted(message: Option<Message>, input: Value) -> Event {
    let run: RunId = "run_00000000000000000000000000000001".parse().unwrap();
    Event::Submitted(Box::new(RunSubmission {
        run,
        session: SessionId::new("s").unwrap(),
        workflow: WorkflowRef { name: "helper".into(), version: "1".into() },
        caller: Caller::local_without_auth(),
        input,
        message,
        parent: None,
        deadline: None,
        guided: false,
        exit: None,
        forked_from: None,
        awaited: false,
        call_chain: CallChain::default(),
        linked_session: None,
    }))
}

fn submitted_message(text: &str) -> Event {
    submitted(Some(message(text)), json!({}))
}

fn step(key: &str, occurrence: u32, outcome: StepOutcome) -> Event {
    Event::StepDone { op: Op { kind: OpKind::Step, key: key.into(), occurrence }, outcome }
}

fn call(id: &str) -> ToolUse {
    samples::call(id, "look")
}

fn recorded(text: &str, calls: Vec<ToolUse>) -> RecordedModelCall {
    let (text, reasoning) = (text.into(), "hidden".into());
    samples::recorded_call(ModelAnswer { text, reasoning, calls, ..ModelAnswer::default() })
}

fn answered(n: u32, text: &str, calls: Vec<ToolUse>) -> Event {
    step(MODEL_KEY, n, StepOutcome::Ok(recorded(text, calls).to_value().unwrap()))
}

fn returned(n: u32, index: usize, record: &ToolCallRecord) -> Event {
    let key = ToolCallPosition { model_call: n, index }.to_step_key("look");
    step(&key, 0, StepOutcome::Ok(record.to_value().unwrap()))
}

fn failed() -> Event {
    let message_id = MessageId::new("f").unwrap();
    Event::Failed { failure: Failure::new("the model is busy"), message_id }
}

fn text(text: &str) -> Vec<ContentPiece> {
    vec![ContentPiece::Text(text.into())]
}

fn user(said: &str) -> ConversationEntry {
    ConversationEntry::User {
        pieces: vec![ContentPiece::Text(said.into()), ContentPiece::Text("```json\n1\n```".into())],
    }
}

fn result(id: &str, said: &str, failed: bool) -> ConversationEntry {
    ConversationEntry::Result { call: id.into(), tool: "look".into(), pieces: text(said), failed }
}

fn transcript_of(log: &[Event]) -> Vec<ConversationEntry> {
    append_turn_from_log(Vec::new(), log, log.len() as Seq)
}

/// Message, calls, results and answer. Results are in the order of the calls, whatever the order of the
/// log.
#[test]
fn a_turn_is_read_from_its_log() {
    let log = [
        submitted_message("Hello"),
        Event::Started,
        answered(0, "I look.", vec![call("a"), call("b")]),
        returned(0, 1, &ToolCallRecord::new(text("second"))),
        returned(0, 0, &ToolCallRecord::call_refused_by_user("look")),
        answered(1, "", vec![call("a")]),
        step("call 1.0 look", 0, StepOutcome::Err(Failure::new("broke"))),
        answered(2, "Done.", Vec::new()),
        Event::Completed { output: json!({"text": "Done."}), message_id: None },
    ];
    let expected = [
        user("Hello"),
        model("I look.", vec![call("a"), call("b")]),
        result("a", "The user refused this call of look. It was not made.", true),
        result("b", "second", false),
        model("", vec![call("a")]),
        result("a", "broke", true),
        model("Done.", Vec::new()),
    ];
    assert_eq!(transcript_of(&log), expected);
    // Up to an event, and after the earlier entries.
    let earlier = vec![user("Earlier"), model("Yes.", Vec::new())];
    let upto = append_turn_from_log(earlier.clone(), &log, 4);
    assert_eq!(upto[..2], earlier);
    let open = [
        user("Hello"),
        model("I look.", vec![call("a"), call("b")]),
        result("a", "(no result yet)", true),
        result("b", "second", false),
        model("(This turn has not ended yet.)", Vec::new()),
    ];
    assert_eq!(upto[2..], open);
    assert_eq!(append_turn_from_log(earlier.clone(), &log, 0), earlier);
    assert_eq!(append_turn_from_log(Vec::new(), &log, Seq::MAX), expected);
}

/// A turn that was cancelled or failed midway is a valid conversation: every call has a result, and the
/// model has the last entry.
#[test]
fn a_turn_that_broke_off_is_a_valid_conversation() {
    let rejected = || Event::Rejected { reason: "no".into(), message_id: MessageId::new("r").unwrap() };
    let table = [
        (Event::Canceled, "(cancelled)", "(This turn was cancelled.)"),
        (failed(), "(the turn ended before there was a result)", "(This turn failed: the model is busy)"),
        (rejected(), "(the turn ended before there was a result)", "(This turn was rejected: no)"),
    ];
    for (end, missing, word) in table {
        let log = [
            submitted_message("Hello"),
            answered(0, "", vec![call("a"), call("b")]),
            returned(0, 0, &ToolCallRecord::new(text("1"))),
            end.clone(),
        ];
        let expected = [
            user("Hello"),
            model("", vec![call("a"), call("b")]),
            result("a", "1", false),
            result("b", missing, true),
            model(word, Vec::new()),
        ];
        assert_eq!(transcript_of(&log), expected);
        assert_eq!(
            transcript_of(&[submitted_message("Hello"), end]),
            [user("Hello"), model(word, Vec::new())]
        );
    }
}

/// The sentence about a used-up budget is the model's last entry.
#[test]
fn a_limit_is_the_last_word() {
    let output = json!({"text": "I stopped: this turn may make 1 model call and has made it."});
    let log = [
        submitted_message("Hello"),
        answered(0, "", vec![call("a")]),
        returned(0, 0, &ToolCallRecord::new(text("1"))),
        Event::Completed { output: output.clone(), message_id: None },
    ];
    let said = output["text"].as_str().unwrap();
    assert_eq!(transcript_of(&log).last(), Some(&model(said, Vec::new())));
    let silent = [
        submitted_message("Hello"),
        answered(0, "", Vec::new()),
        Event::Completed { output: json!({}), message_id: None },
    ];
    assert_eq!(transcript_of(&silent), [user("Hello"), model("(no answer)", Vec::new())]);
}

/// Arguments that were not JSON have the result that the turn gave them.
#[test]
fn broken_arguments_have_their_result() {
    let broken = ToolArguments::Broken { text: "{".into(), reason: "it ends".into() };
    let call = ToolUse { arguments: broken, ..call("a") };
    let entries = transcript_of(&[submitted_message("Hello"), answered(0, "", vec![call]), Event::Canceled]);
    let ConversationEntry::Result { pieces, failed: true, .. } = &entries[2] else { panic!("{entries:?}") };
    let ContentPiece::Text(told) = &pieces[0] else { panic!() };
    assert!(told.contains("are not JSON (it ends)"), "{told}");
}

/// A draft that was sent back for a repair is not part of the conversation.
#[test]
fn only_the_repaired_answer_is_in_the_transcript() {
    let log = [
        submitted(None, json!({"prompt": "Give JSON", "output": {}})),
        answered(0, "Sure!", Vec::new()),
        answered(1, "{}", Vec::new()),
        Event::Completed { output: json!({}), message_id: None },
    ];
    let asked = ConversationEntry::User { pieces: text("Give JSON") };
    assert_eq!(transcript_of(&log), [asked, model("{}", Vec::new())]);
}

/// A message to a turn that had not asked still reaches the model.
#[test]
fn message_during_a_turn_is_in_the_transcript() {
    let log = [
        submitted_message("Hello"),
        answered(0, "", vec![call("a")]),
        Event::Noted { message: message("And hurry") },
        returned(0, 0, &ToolCallRecord::new(text("1"))),
        answered(1, "Done.", Vec::new()),
    ];
    let expected = [
        user("Hello"),
        model("", vec![call("a")]),
        result("a", "1", false),
        user("And hurry"),
        model("Done.", Vec::new()),
    ];
    assert_eq!(transcript_of(&log), expected);

    // After the last entry it waits for the next turn.
    let output = json!({"text": "Hi."});
    let late = Event::Noted { message: message("Wait") };
    let log = [
        submitted_message("Hello"),
        answered(0, "Hi.", Vec::new()),
        late,
        Event::Completed { output, message_id: None },
    ];
    assert_eq!(transcript_of(&log), [user("Hello"), model("Hi.", Vec::new()), user("Wait")]);
}

/// A compaction replaces everything before it, in this turn and in earlier ones.
#[test]
fn a_compaction_takes_the_place_of_everything_before() {
    let kept = vec![user("Now")];
    let compacted = CompactedHistory { summary: "Sum".into(), kept, ..CompactedHistory::default() };
    let log = [
        submitted_message("Now"),
        step("compact", 0, StepOutcome::Ok(compacted.to_value().unwrap())),
        answered(0, "Done.", Vec::new()),
    ];
    assert!(log_has_compaction(&log));
    assert!(!log_has_compaction(&log[..1]));
    let earlier = vec![user("Old"), model("Older", Vec::new())];
    let expected = [ConversationEntry::User { pieces: text("Sum") }, user("Now"), model("Done.", Vec::new())];
    assert_eq!(append_turn_from_log(earlier, &log, 3), expected);
    // A failed compaction changes nothing.
    let log = [submitted_message("Now"), step("compact", 0, StepOutcome::Err(Failure::new("x")))];
    assert!(!log_has_compaction(&log));
    assert_eq!(transcript_of(&log)[0], user("Now"));
}

/// Records that cannot be read do not stop a conversation.
#[test]
fn unreadable_records_are_told_or_skipped() {
    let log = [
        submitted_message("Hello"),
        answered(0, "", vec![call("a")]),
        step("call 0.0 look", 0, StepOutcome::Ok(json!("?"))),
        step(MODEL_KEY, 1, StepOutcome::Ok(json!("?"))),
        step("compact", 0, StepOutcome::Ok(json!("?"))),
    ];
    let entries = transcript_of(&log);
    assert_eq!(entries.len(), 4);
    let ConversationEntry::Result { pieces, failed: true, .. } = &entries[2] else { panic!("{entries:?}") };
    let ContentPiece::Text(told) = &pieces[0] else { panic!() };
    assert!(told.starts_with("the record of a tool call cannot be read"), "{told}");
}

/// The log and the turn agree: the same records applied to a turn give the same conversation.
#[test]
fn log_and_turn_agree() {
    let asking = content_pieces::pieces_from_user_input(Some(&message("Hello")), &json!({}));
    let mut turn = AgentTurn::begin_turn(&agent(), Vec::new(), asking, Timestamp(0));
    let mut log = vec![submitted_message("Hello")];
    let script = [
        recorded("Two.", vec![call("a"), call("a"), call("b")]),
        recorded("", vec![call("a")]),
        recorded("Done.", Vec::new()),
    ];
    for (n, answer) in (0..).zip(script) {
        assert_eq!(turn.next_action(), NextTurnAction::Ask);
        turn.apply_model_answer(&answer).unwrap();
        log.push(answered(n, &answer.answer.text, answer.answer.calls.clone()));
        if let NextTurnAction::Call(mut waiting) = turn.next_action() {
            waiting.reverse();
            for waiting in waiting {
                let record = ToolCallRecord::new(text(&waiting.call_step_key()));
                turn.apply_call_result(&waiting.call.id, record.clone()).unwrap();
                log.push(step(&waiting.call_step_key(), 0, StepOutcome::Ok(record.to_value().unwrap())));
            }
        }
    }
    assert!(matches!(turn.next_action(), NextTurnAction::Done(_)));
    assert_eq!(transcript_of(&log), turn.conversation_entries());
    assert_eq!(
        turn.build_model_request(TurnRequestContext::default()).entries.len(),
        turn.conversation_entries().len()
    );
}
