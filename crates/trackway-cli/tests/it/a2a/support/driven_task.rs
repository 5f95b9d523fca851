//! One task, driven over one of the two methods, with or without a crash on its way, and everything that
//! the client received.

use serde_json::{Value, json};

use super::{A2aClient, CrashableServer, Message, StreamEvent, expected_events::normalize_events};

/// How messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendMethod {
    Stream,
    Send,
}

/// Whether the server is killed on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrashPlan {
    Never,
    InTheMiddle,
}

/// Both methods, on a server that keeps running and on one that is killed.
pub(crate) fn all_methods_and_crashes() -> impl Iterator<Item = (SendMethod, CrashPlan)> {
    let ways = [SendMethod::Stream, SendMethod::Send];
    let ways =
        ways.into_iter().flat_map(|way| [CrashPlan::Never, CrashPlan::InTheMiddle].map(|crash| (way, crash)));
    ways.inspect(|way| eprintln!("{way:?}"))
}

#[derive(Debug)]
pub(crate) struct DrivenTask {
    pub(crate) server: CrashableServer,
    agent: &'static str,
    method: SendMethod,
    crash_plan: CrashPlan,
    /// The task of the last answer.
    pub(crate) task: Value,
    /// Every event so far, if it was streamed.
    events: Vec<StreamEvent>,
}

impl DrivenTask {
    /// Starts a task on a fresh server and waits until it is idle.
    pub(crate) async fn start(
        (way, crash): (SendMethod, CrashPlan),
        agent: &'static str,
        message: &Message,
    ) -> Self {
        let server = CrashableServer::start();
        let mut run =
            Self { server, agent, method: way, crash_plan: crash, task: Value::Null, events: Vec::new() };
        match way {
            SendMethod::Send => run.task = run.agent().send_and_wait(message).await.expect("a task"),
            SendMethod::Stream => {
                run.events = run.agent().stream_message(message).await;
                run.task = run.events[0].result.clone();
            }
        }
        run
    }

    /// Starts a task on a fresh server and follows it up to the first event that fits.
    pub(crate) async fn start_until(
        (way, crash): (SendMethod, CrashPlan),
        agent: &'static str,
        message: &Message,
        fits: impl Fn(&Value) -> bool,
    ) -> Self {
        let server = CrashableServer::start();
        let mut run =
            Self { server, agent, method: way, crash_plan: crash, task: Value::Null, events: Vec::new() };
        let agent = run.agent();
        run.events = match way {
            SendMethod::Stream => {
                let params = json!({ "message": message.json() });
                agent.open_stream("message/stream", params, None).await.read_until(fits).await
            }
            SendMethod::Send => {
                let task = agent.send(message).await.expect("a task");
                agent.subscribe(&task, Some(0)).await.read_until(fits).await
            }
        };
        run.task = run.events[0].result.clone();
        run
    }

    pub(crate) fn agent(&self) -> A2aClient {
        self.server.agent(self.agent)
    }

    /// Answers the task's question and waits until the task is idle again. Returns the Task of the answer.
    pub(crate) async fn answer_and_wait(&mut self, message: Message) -> Value {
        let message = message.for_task(&self.task);
        if self.method == SendMethod::Send {
            self.task = self.agent().send_and_wait(&message).await.expect("a task");
            return self.task.clone();
        }
        let mut events = self.agent().stream_message(&message).await;
        let first = events.remove(0);
        assert_eq!(first.result["kind"], "task");
        assert_eq!(Some(first.pos), self.events.last().map(|event| event.pos), "it goes on where it was");
        self.events.extend(events);
        first.result
    }

    /// The crash, if there is one. Everything that was received before is unchanged afterwards.
    pub(crate) async fn crash_if_planned(&mut self) {
        if self.crash_plan == CrashPlan::Never {
            return;
        }
        self.server.crash();
        let agent = self.agent();
        let before = agent.subscribe(&self.task, Some(0)).await.read_count(self.events.len()).await;
        assert_eq!(before, self.events, "nothing is taken back");
        if self.method == SendMethod::Send && self.events.is_empty() {
            // The position of a request belongs to that request; everything else belongs to the task.
            let [mut now, mut then] = [agent.get_task(&self.task).await, self.task.clone()];
            (now["metadata"], then["metadata"]) = (Value::Null, Value::Null);
            assert_eq!(now, then, "the task is as it was answered");
        }
    }

    /// The crash, if there is one, at a point where the task continues by itself.
    pub(crate) fn crash_if_planned_without_check(&mut self) {
        if self.crash_plan == CrashPlan::InTheMiddle {
            self.server.crash();
        }
    }

    /// The open question's id.
    pub(crate) async fn open_question_id(&self) -> Value {
        self.agent().get_task(&self.task).await["status"]["message"]["metadata"]["questionId"].clone()
    }

    /// Follows the task to its end and returns all its events.
    pub(crate) async fn follow_to_end(&mut self) -> Vec<Value> {
        let agent = self.agent();
        if let Some(last) = self.events.last().filter(|last| last.result["final"] != true) {
            let rest = agent.subscribe(&self.task, Some(last.pos)).await.read_to_end().await;
            self.events.extend(rest);
        }
        let whole = agent.replay(&self.task).await;
        if !self.events.is_empty() {
            assert_eq!(whole, self.events, "a replay is what was seen, without gap or repetition");
        }
        normalize_events(&whole)
    }
}
