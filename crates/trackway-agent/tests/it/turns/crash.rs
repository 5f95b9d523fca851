//! A crash at every fault point of a turn. After each crash the turn continues: it produces the same
//! history and the same artifacts, and nothing that was recorded is requested or done again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use trackway_agent::{append_turn_from_log, turn_record::MODEL_KEY};
use trackway_domain::{Event, InterruptReason, OpKind, Part, RunId, Seq, SessionId, StateName};
use trackway_engine::RunView;
use trackway_ports::{Journal, RunFilter, StoredEvent};
use trackway_runtime::{Program, RetryPolicy, Tool};
use trackway_testkit::{
    ClientHistory, CrashAt, IdNormalizer, ModelRequest, ProcessSetup, ScriptedChatReply, ScriptedClient,
    ScriptedModelServer, ScriptedReply, TestWorld, assert_one_lifecycle, comparable_view, load_full_log,
    visible_events,
};

use super::harness::{
    AGENT, SESSION, agent_spec, build_registry, messages_of, model_snapshot, start_model_server, start_run,
    text_artifact, tool, wait_until_idle, workflow,
};

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 2_000;

/// For some sweeps every nth point is enough: the points between go through the same code.
const STRIDE: usize = 3;

/// The effects, by idempotency key. They survive the processes.
type EffectLedger = Arc<Mutex<Vec<String>>>;

fn record_effect(ledger: &EffectLedger, key: &str) {
    ledger.lock().unwrap().push(key.to_owned());
}

/// Reports progress, performs an effect, and returns.
fn works(ledger: &EffectLedger) -> Arc<dyn Program> {
    let ledger = ledger.clone();
    workflow("works", move |stage, input| {
        let ledger = ledger.clone();
        async move {
            stage.report_status(vec![Part::text(input["text"].as_str().unwrap())]).await;
            stage.emit_artifact(text_artifact("work.txt", "work").into()).await;
            let mut work =
                |attempt: trackway_runtime::StepAttempt| -> futures_util::future::BoxFuture<'_, _> {
                    record_effect(&ledger, &attempt.idempotency_key);
                    Box::pin(async { Ok(Value::Null) })
                };
            stage.step("work", RetryPolicy::default(), &mut work).await;
            Ok(input)
        }
    })
}

/// Asks first and reports the answer.
fn asks() -> Arc<dyn Program> {
    workflow("asks", async |stage, _| {
        let schema = json!({ "type": "object", "required": ["sure"] });
        let prompt = vec![Part::text("Sure?")];
        let (_, answer) = stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
        stage.report_status(vec![Part::text(format!("You are {}.", answer.input["sure"]))]).await;
        Ok(Value::Null)
    })
}

/// A tool with an effect.
fn acts(ledger: &EffectLedger) -> Arc<dyn Tool> {
    let ledger = ledger.clone();
    tool("acts", move |arguments, call| {
        record_effect(&ledger, &call.attempt.idempotency_key);
        Box::pin(async move { Ok(arguments.into()) })
    })
}

/// A tool that asks the user in the middle of its work.
fn wonders(ledger: &EffectLedger) -> Arc<dyn Tool> {
    let ledger = ledger.clone();
    tool("wonders", move |_, call| {
        let ledger = ledger.clone();
        Box::pin(async move {
            let schema = json!({ "type": "object", "required": ["name"] });
            let answer = call.ask_question(vec![Part::text("Your name?")], schema).await?;
            record_effect(&ledger, &call.attempt.idempotency_key);
            Ok(answer.into())
        })
    })
}

/// A conversation for a sweep: the model's answer after a number of earlier answers.
struct ScriptedConversation {
    /// A workflow already waits for an answer at the start.
    asked: bool,
    answers: fn(usize, &[Value]) -> ScriptedChatReply,
    length: usize,
}

fn call(id: &str, tool: &str, arguments: &Value) -> ScriptedChatReply {
    ScriptedChatReply::default().with_text("And now: ").with_tool_calls(&[(id, tool, &arguments.to_string())])
}

/// Two dispatches and a tool, one after the other.
const IN_TURN: ScriptedConversation = ScriptedConversation {
    asked: false,
    length: 4,
    answers: |heard, _| match heard {
        0 => call("c1", "dispatch_workflow_works", &json!({ "text": "one" })),
        1 => call("c2", "acts", &json!({ "text": "x" })),
        2 => call("c3", "dispatch_workflow_works", &json!({ "text": "two" })),
        _ => ScriptedChatReply::default().with_text("All is done."),
    },
};

/// The same calls, concurrently.
const AT_ONCE: ScriptedConversation = ScriptedConversation {
    asked: false,
    length: 2,
    answers: |heard, _| match heard {
        0 => ScriptedChatReply::default().with_text("At once: ").with_tool_calls(&[
            ("c1", "dispatch_workflow_works", r#"{"text":"one"}"#),
            ("c2", "acts", r#"{"text":"x"}"#),
            ("c3", "dispatch_workflow_works", r#"{"text":"two"}"#),
        ]),
        _ => ScriptedChatReply::default().with_text("All is done."),
    },
};

/// A tool that asks, and a workflow whose question the model answers.
const WITH_QUESTIONS: ScriptedConversation = ScriptedConversation {
    asked: true,
    length: 3,
    answers: |heard, told| match heard {
        0 => call("c1", "wonders", &json!({ "text": "x" })),
        1 => {
            let known = told[0]["content"].as_str().unwrap();
            let id = known[known.find("run_").unwrap()..].split('"').next();
            let reply = json!({ "taskId": id, "input": { "sure": true } });
            call("c2", "answer_task", &reply)
        }
        _ => ScriptedChatReply::default().with_text("All is done."),
    },
};

/// The number of the model call that a request is.
fn model_call_number(asked: &ModelRequest) -> usize {
    messages_of(asked).iter().filter(|message| message["role"] == "assistant").count()
}

/// The whole result of one turn, without ids.
#[derive(Debug, PartialEq)]
struct TurnSnapshot {
    history: Value,
    artifacts: BTreeMap<String, Value>,
    /// Updates except for the text, which restarts after an interruption.
    updates: Vec<Value>,
    children: Vec<Value>,
}

struct CrashRun<'a> {
    world: TestWorld,
    server: &'a ScriptedModelServer,
    ledger: EffectLedger,
    visit: ClientHistory,
}

impl CrashRun<'_> {
    fn setup(&self) -> ProcessSetup {
        let mut stock = model_snapshot(self.server);
        stock.tools = vec![acts(&self.ledger), wonders(&self.ledger)];
        build_registry(&agent_spec(), &stock, &[works(&self.ledger), asks()]).into()
    }

    /// An earlier process, in which a workflow of the session asks.
    fn start_asking_workflow(&self) {
        self.world.run_to_completion(self.setup(), async |process| {
            let asking = start_run(&process, "asks", json!({ "text": "x" }), None).await;
            assert_eq!(wait_until_idle(&process, asking).await.state, StateName::InputRequired);
        });
    }

    /// One process. True if the client finished.
    fn run_process(&self, faults: &Arc<CrashAt>) -> bool {
        let session = SessionId::new(SESSION).unwrap();
        let guest = ScriptedClient::new(AGENT, json!("Go.")).in_session(session).without_advancing_sleeps();
        // The tool's question, and the approval of an answer that is not in the user's message.
        let guest = guest.with_answers(|workflow, number| match (workflow, number) {
            (AGENT, 0) => vec![json!({ "name": "Ada" })],
            (AGENT, _) => vec![json!({ "approved": true })],
            _ => Vec::new(),
        });
        let through = self.world.run_process(self.setup().with_faults(faults.clone()), async |process| {
            guest.run_client(&process, &self.visit).await;
        });
        through.is_some()
    }

    /// Recorded outcomes: numbers of model calls, and idempotency keys of all steps.
    fn recorded(&self) -> (Vec<usize>, Vec<String>) {
        self.world.inspect_store(async |journal| {
            let (mut answers, mut keys) = (Vec::new(), Vec::new());
            for (run, log) in logs(&*journal).await {
                for stored in log {
                    let Event::StepDone { op, .. } = stored.event else { continue };
                    if op.kind == OpKind::Step && *op.key == *MODEL_KEY {
                        answers.push(op.occurrence as usize);
                    }
                    keys.push(format!("{run}/{op}"));
                }
            }
            (answers, keys)
        })
    }

    fn outcome(&self) -> TurnSnapshot {
        self.world.inspect_store(async |journal| {
            let owed = journal.list_outbox(None, 9).await.unwrap();
            assert!(owed.is_empty(), "nothing is owed: {owed:?}");
            let logs = logs(&*journal).await;
            logs.iter().for_each(|(run, log)| assert_one_lifecycle(*run, log));
            let is_turn = |log: &[StoredEvent]| matches!(&log[0].event, Event::Submitted(submission) if submission.workflow.name == AGENT);
            let (turns, others): (Vec<_>, Vec<_>) =
                logs.values().partition(|log| is_turn(log));
            assert_eq!(turns.len(), 1);
            turn_snapshot(turns[0], &others)
        })
    }
}

fn turn_snapshot(log: &[StoredEvent], children: &[&Vec<StoredEvent>]) -> TurnSnapshot {
    let events: Vec<Event> = log.iter().map(|stored| stored.event.clone()).collect();
    let view = view(log);
    let plain = |value: &Value| IdNormalizer::new().normalize(value);
    let artifacts = view
        .artifacts
        .iter()
        .map(|artifact| (artifact.id.to_string(), plain(&serde_json::to_value(&**artifact).unwrap())));
    let is_text = |update: &Value| update.to_string().contains("text-response");
    let updates = visible_events(log).into_iter().filter(|update| !is_text(update));
    let mut updates: Vec<Value> = updates.map(|update| plain(&without_op(update))).collect();
    updates.sort_by_key(Value::to_string);
    let mut children: Vec<Value> =
        children.iter().map(|log| plain(&comparable_view(&self::view(log)))).collect();
    children.sort_by_key(Value::to_string);
    let entries = append_turn_from_log(Vec::new(), &events, Seq::MAX);
    TurnSnapshot {
        history: plain(&serde_json::to_value(entries).unwrap()),
        artifacts: artifacts.collect(),
        updates,
        children,
    }
}

/// The update without the name of its op: concurrent calls may be reported in any order.
fn without_op(mut update: Value) -> Value {
    for inside in update.as_object_mut().into_iter().flat_map(|event| event.values_mut()) {
        if let Some(inside) = inside.as_object_mut() {
            inside.remove("op");
        }
    }
    update
}

fn view(log: &[StoredEvent]) -> RunView {
    let Event::Submitted(submission) = &log[0].event else { unreachable!("a log begins so") };
    let mut view = RunView::from_submission((**submission).clone().into(), log[0].at, log[0].pos);
    log[1..].iter().for_each(|stored| view.apply_event(&stored.event, stored.at, stored.pos));
    view
}

async fn logs(journal: &dyn Journal) -> BTreeMap<RunId, Vec<StoredEvent>> {
    let rows = journal.list_runs(RunFilter::default(), None, usize::MAX).await.unwrap();
    let mut logs = BTreeMap::new();
    for row in rows {
        logs.insert(row.id, load_full_log(journal, row.id).await.unwrap());
    }
    logs
}

/// The number of occurrences of each.
fn count_occurrences<T: Ord + Clone>(all: &[T]) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one.clone()).or_default() += 1;
    }
    counts
}

fn sweep(plot: &ScriptedConversation, open: fn() -> TestWorld, stride: usize) {
    let mut clean: Option<TurnSnapshot> = None;
    for point in (0..POINTS_MAX).step_by(stride) {
        let server = start_model_server();
        let answers = plot.answers;
        server.set_responder(move |asked| {
            ScriptedReply::from(answers(model_call_number(asked), &messages_of(asked)))
        });
        let journey = CrashRun {
            world: open(),
            server: &server,
            ledger: EffectLedger::default(),
            visit: ClientHistory::new(),
        };
        if plot.asked {
            journey.start_asking_workflow();
        }
        let faults = Arc::new(if point == 0 { CrashAt::never_crash() } else { CrashAt::at_any_point(point) });
        let through = journey.run_process(&faults);
        let place = format!("point {point}, {:?}", faults.reached_points().last());
        let (answers, keys) = journey.recorded();
        if !through {
            let last = Arc::new(CrashAt::never_crash());
            assert!(journey.run_process(&last), "{place}: without a fault it gets through");
        }
        let outcome = journey.outcome();
        // Nothing that was recorded is requested again; of the rest only the part that was running.
        let asked = count_occurrences(&server.requests().iter().map(model_call_number).collect::<Vec<_>>());
        assert_eq!(asked.len(), plot.length, "{place}: {asked:?}");
        assert!(answers.iter().all(|number| asked[number] == 1), "{place}: {asked:?}");
        let again = asked.values().filter(|count| **count > 1).count();
        assert!(again <= 1 && asked.values().all(|count| *count <= 2), "{place}: {asked:?}");
        let done = count_occurrences(&journey.ledger.lock().unwrap());
        for (key, count) in &done {
            assert!(*count == 1 || (*count == 2 && !keys.contains(key)), "{place}: {key}");
        }
        match &clean {
            Some(clean) => assert_eq!(outcome, *clean, "{place}"),
            None => {
                assert!(through);
                clean = Some(outcome);
                continue;
            }
        }
        if through {
            assert!(point > 50, "there are points to crash at: {:?}", faults.reached_points());
            return;
        }
    }
    panic!("it never gets through");
}

/// Proves D2, D6, X4.
#[test]
fn a_turn_survives_a_crash_anywhere_in_memory() {
    sweep(&IN_TURN, TestWorld::with_memory_store, 1);
}

/// Proves D2, D6, X4.
#[test]
fn a_turn_survives_a_crash_anywhere_on_disk() {
    sweep(&IN_TURN, TestWorld::with_sqlite_store, STRIDE);
}

/// Proves D6, D7, X4.
#[test]
fn parallel_calls_survive_a_crash_anywhere() {
    sweep(&AT_ONCE, TestWorld::with_memory_store, STRIDE);
}

/// Proves D3, X4: a pending question is found again with its answer, and an answer that was sent is not
/// sent again.
#[test]
fn questions_and_answers_survive_a_crash_anywhere() {
    sweep(&WITH_QUESTIONS, TestWorld::with_memory_store, STRIDE);
}
