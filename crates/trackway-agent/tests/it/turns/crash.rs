//! A crash at every fault point of a turn. After each crash the turn continues: it produces the same
//! history and the same artifacts, and nothing that was recorded is requested or done again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use trackway_agent::{record::MODEL_KEY, transcript};
use trackway_domain::{Event, OpKind, Part, Reason, RunId, Seq, SessionId, StateName};
use trackway_engine::RunView;
use trackway_ports::{Journal, RunFilter, Stored};
use trackway_runtime::{Program, RetryPolicy, Tool};
use trackway_testkit::{
    Asked, ChatReply, CrashAt, Guest, ModelServer, Names, Reply, Setup, Visit, World, one_life,
    seen, updates, whole_log,
};

use super::kit::{
    AGENT, SESSION, messages, registry, rested, server, spec, start, stock, text_artifact, tool,
    workflow,
};

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 2_000;

/// For some sweeps every nth point is enough: the points between go through the same code.
const STRIDE: usize = 3;

/// The effects, by idempotency key. They survive the processes.
type Ledger = Arc<Mutex<Vec<String>>>;

fn enter(ledger: &Ledger, key: &str) {
    ledger.lock().unwrap().push(key.to_owned());
}

/// Reports progress, performs an effect, and returns.
fn works(ledger: &Ledger) -> Arc<dyn Program> {
    let ledger = ledger.clone();
    workflow("works", move |stage, input| {
        let ledger = ledger.clone();
        async move {
            stage.status(vec![Part::text(input["text"].as_str().unwrap())]).await;
            stage.artifact(text_artifact("work.txt", "work").into()).await;
            let mut work =
                |attempt: trackway_runtime::Attempt| -> futures_util::future::BoxFuture<'_, _> {
                    enter(&ledger, &attempt.idempotency_key);
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
        let (_, answer) = stage.ask(Reason::InputRequired, prompt, schema, None).await;
        stage.status(vec![Part::text(format!("You are {}.", answer.input["sure"]))]).await;
        Ok(Value::Null)
    })
}

/// A tool with an effect.
fn acts(ledger: &Ledger) -> Arc<dyn Tool> {
    let ledger = ledger.clone();
    tool("acts", move |arguments, call| {
        enter(&ledger, &call.attempt.idempotency_key);
        Box::pin(async move { Ok(arguments.into()) })
    })
}

/// A tool that asks the user in the middle of its work.
fn wonders(ledger: &Ledger) -> Arc<dyn Tool> {
    let ledger = ledger.clone();
    tool("wonders", move |_, call| {
        let ledger = ledger.clone();
        Box::pin(async move {
            let schema = json!({ "type": "object", "required": ["name"] });
            let answer = call.ask(vec![Part::text("Your name?")], schema).await?;
            enter(&ledger, &call.attempt.idempotency_key);
            Ok(answer.into())
        })
    })
}

/// A conversation for a sweep: the model's answer after a number of earlier answers.
struct Plot {
    /// A workflow already waits for an answer at the start.
    asked: bool,
    answers: fn(usize, &[Value]) -> ChatReply,
    length: usize,
}

fn call(id: &str, tool: &str, arguments: &Value) -> ChatReply {
    ChatReply::default().says("And now: ").calls(&[(id, tool, &arguments.to_string())])
}

/// Two dispatches and a tool, one after the other.
const IN_TURN: Plot = Plot {
    asked: false,
    length: 4,
    answers: |heard, _| match heard {
        0 => call("c1", "dispatch_workflow_works", &json!({ "text": "one" })),
        1 => call("c2", "acts", &json!({ "text": "x" })),
        2 => call("c3", "dispatch_workflow_works", &json!({ "text": "two" })),
        _ => ChatReply::default().says("All is done."),
    },
};

/// The same calls, concurrently.
const AT_ONCE: Plot = Plot {
    asked: false,
    length: 2,
    answers: |heard, _| match heard {
        0 => ChatReply::default().says("At once: ").calls(&[
            ("c1", "dispatch_workflow_works", r#"{"text":"one"}"#),
            ("c2", "acts", r#"{"text":"x"}"#),
            ("c3", "dispatch_workflow_works", r#"{"text":"two"}"#),
        ]),
        _ => ChatReply::default().says("All is done."),
    },
};

/// A tool that asks, and a workflow whose question the model answers.
const WITH_QUESTIONS: Plot = Plot {
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
        _ => ChatReply::default().says("All is done."),
    },
};

/// The number of the model call that a request is.
fn number(asked: &Asked) -> usize {
    messages(asked).iter().filter(|message| message["role"] == "assistant").count()
}

/// The whole result of one turn, without ids.
#[derive(Debug, PartialEq)]
struct Outcome {
    history: Value,
    artifacts: BTreeMap<String, Value>,
    /// Updates except for the text, which restarts after an interruption.
    updates: Vec<Value>,
    children: Vec<Value>,
}

struct Journey<'a> {
    world: World,
    server: &'a ModelServer,
    ledger: Ledger,
    visit: Visit,
}

impl Journey<'_> {
    fn setup(&self) -> Setup {
        let mut stock = stock(self.server);
        stock.tools = vec![acts(&self.ledger), wonders(&self.ledger)];
        registry(&spec(), &stock, &[works(&self.ledger), asks()]).into()
    }

    /// An earlier process, in which a workflow of the session asks.
    fn asked(&self) {
        self.world.run(self.setup(), async |process| {
            let asking = start(&process, "asks", json!({ "text": "x" }), None).await;
            assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        });
    }

    /// One process. True if the client finished.
    fn live(&self, faults: &Arc<CrashAt>) -> bool {
        let session = SessionId::new(SESSION).unwrap();
        let guest = Guest::new(AGENT, json!("Go.")).within(session).leaves_sleeps();
        // The tool's question, and the approval of an answer that is not in the user's message.
        let guest = guest.answers(|workflow, number| match (workflow, number) {
            (AGENT, 0) => vec![json!({ "name": "Ada" })],
            (AGENT, _) => vec![json!({ "approved": true })],
            _ => Vec::new(),
        });
        let through = self.world.process(self.setup().faults(faults.clone()), async |process| {
            guest.visit(&process, &self.visit).await;
        });
        through.is_some()
    }

    /// Recorded outcomes: numbers of model calls, and idempotency keys of all steps.
    fn recorded(&self) -> (Vec<usize>, Vec<String>) {
        self.world.look(async |journal| {
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

    fn outcome(&self) -> Outcome {
        self.world.look(async |journal| {
            let owed = journal.outbox(None, 9).await.unwrap();
            assert!(owed.is_empty(), "nothing is owed: {owed:?}");
            let logs = logs(&*journal).await;
            logs.iter().for_each(|(run, log)| one_life(*run, log));
            let is_turn = |log: &[Stored]| matches!(&log[0].event, Event::Submitted(submission) if submission.workflow.name == AGENT);
            let (turns, others): (Vec<_>, Vec<_>) =
                logs.values().partition(|log| is_turn(log));
            assert_eq!(turns.len(), 1);
            told(turns[0], &others)
        })
    }
}

fn told(log: &[Stored], children: &[&Vec<Stored>]) -> Outcome {
    let events: Vec<Event> = log.iter().map(|stored| stored.event.clone()).collect();
    let view = view(log);
    let plain = |value: &Value| Names::new().plain(value);
    let artifacts = view.artifacts.iter().map(|artifact| {
        (artifact.id.to_string(), plain(&serde_json::to_value(&**artifact).unwrap()))
    });
    let is_text = |update: &Value| update.to_string().contains("text-response");
    let updates = updates(log).into_iter().filter(|update| !is_text(update));
    let mut updates: Vec<Value> = updates.map(|update| plain(&unnumbered(update))).collect();
    updates.sort_by_key(Value::to_string);
    let mut children: Vec<Value> =
        children.iter().map(|log| plain(&seen(&self::view(log)))).collect();
    children.sort_by_key(Value::to_string);
    let entries = transcript(Vec::new(), &events, Seq::MAX);
    Outcome {
        history: plain(&serde_json::to_value(entries).unwrap()),
        artifacts: artifacts.collect(),
        updates,
        children,
    }
}

/// The update without the name of its op: concurrent calls may be reported in any order.
fn unnumbered(mut update: Value) -> Value {
    for inside in update.as_object_mut().into_iter().flat_map(|event| event.values_mut()) {
        if let Some(inside) = inside.as_object_mut() {
            inside.remove("op");
        }
    }
    update
}

fn view(log: &[Stored]) -> RunView {
    let Event::Submitted(submission) = &log[0].event else { unreachable!("a log begins so") };
    let mut view = RunView::begin((**submission).clone().into(), log[0].at, log[0].pos);
    log[1..].iter().for_each(|stored| view.apply(&stored.event, stored.at, stored.pos));
    view
}

async fn logs(journal: &dyn Journal) -> BTreeMap<RunId, Vec<Stored>> {
    let rows = journal.runs(RunFilter::default(), None, usize::MAX).await.unwrap();
    let mut logs = BTreeMap::new();
    for row in rows {
        logs.insert(row.id, whole_log(journal, row.id).await.unwrap());
    }
    logs
}

/// The number of occurrences of each.
fn counts<T: Ord + Clone>(all: &[T]) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one.clone()).or_default() += 1;
    }
    counts
}

fn sweep(plot: &Plot, open: fn() -> World, stride: usize) {
    let mut clean: Option<Outcome> = None;
    for point in (0..POINTS_MAX).step_by(stride) {
        let server = server();
        let answers = plot.answers;
        server.respond(move |asked| Reply::from(answers(number(asked), &messages(asked))));
        let journey = Journey {
            world: open(),
            server: &server,
            ledger: Ledger::default(),
            visit: Visit::new(),
        };
        if plot.asked {
            journey.asked();
        }
        let faults = Arc::new(if point == 0 { CrashAt::never() } else { CrashAt::any(point) });
        let through = journey.live(&faults);
        let place = format!("point {point}, {:?}", faults.reached().last());
        let (answers, keys) = journey.recorded();
        if !through {
            let last = Arc::new(CrashAt::never());
            assert!(journey.live(&last), "{place}: without a fault it gets through");
        }
        let outcome = journey.outcome();
        // Nothing that was recorded is requested again; of the rest only the part that was running.
        let asked = counts(&server.asked().iter().map(number).collect::<Vec<_>>());
        assert_eq!(asked.len(), plot.length, "{place}: {asked:?}");
        assert!(answers.iter().all(|number| asked[number] == 1), "{place}: {asked:?}");
        let again = asked.values().filter(|count| **count > 1).count();
        assert!(again <= 1 && asked.values().all(|count| *count <= 2), "{place}: {asked:?}");
        let done = counts(&journey.ledger.lock().unwrap());
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
            assert!(point > 50, "there are points to crash at: {:?}", faults.reached());
            return;
        }
    }
    panic!("it never gets through");
}

/// Proves D2, D6, X4.
#[test]
fn a_turn_survives_a_crash_anywhere_in_memory() {
    sweep(&IN_TURN, World::memory, 1);
}

/// Proves D2, D6, X4.
#[test]
fn a_turn_survives_a_crash_anywhere_on_disk() {
    sweep(&IN_TURN, World::sqlite, STRIDE);
}

/// Proves D6, D7, X4.
#[test]
fn parallel_calls_survive_a_crash_anywhere() {
    sweep(&AT_ONCE, World::memory, STRIDE);
}

/// Proves D3, X4: a pending question is found again with its answer, and an answer that was sent is not
/// sent again.
#[test]
fn questions_and_answers_survive_a_crash_anywhere() {
    sweep(&WITH_QUESTIONS, World::memory, STRIDE);
}
