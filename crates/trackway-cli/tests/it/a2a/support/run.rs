//! One task, driven over one of the two methods, with or without a crash on its way, and everything
//! that was seen of it.

use serde_json::{Value, json};

use super::{Agent, Event, Message, Server, told};

/// How messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Stream,
    Send,
}

/// Whether the server is killed on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crash {
    Never,
    InTheMiddle,
}

/// Both methods, on a server that lives and on one that is killed.
pub(crate) fn every_way() -> impl Iterator<Item = (Way, Crash)> {
    let ways = [Way::Stream, Way::Send];
    let ways = ways
        .into_iter()
        .flat_map(|way| [Crash::Never, Crash::InTheMiddle].map(|crash| (way, crash)));
    ways.inspect(|way| eprintln!("{way:?}"))
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) server: Server,
    agent: &'static str,
    way: Way,
    crash: Crash,
    /// The task as it was answered last.
    pub(crate) task: Value,
    /// Every event so far, where it was streamed.
    seen: Vec<Event>,
}

impl Run {
    /// Starts a task on a fresh server and waits until it rests.
    pub(crate) async fn start(
        (way, crash): (Way, Crash),
        agent: &'static str,
        message: &Message,
    ) -> Self {
        let server = Server::start();
        let mut run = Self { server, agent, way, crash, task: Value::Null, seen: Vec::new() };
        match way {
            Way::Send => run.task = run.agent().settle(message).await.expect("a task"),
            Way::Stream => {
                run.seen = run.agent().stream(message).await;
                run.task = run.seen[0].result.clone();
            }
        }
        run
    }

    /// Starts a task on a fresh server and follows it up to the first event that fits.
    pub(crate) async fn start_until(
        (way, crash): (Way, Crash),
        agent: &'static str,
        message: &Message,
        fits: impl Fn(&Value) -> bool,
    ) -> Self {
        let server = Server::start();
        let mut run = Self { server, agent, way, crash, task: Value::Null, seen: Vec::new() };
        let agent = run.agent();
        run.seen = match way {
            Way::Stream => {
                let params = json!({ "message": message.json() });
                agent.open("message/stream", params, None).await.until(fits).await
            }
            Way::Send => {
                let task = agent.send(message).await.expect("a task");
                agent.subscribe(&task, Some(0)).await.until(fits).await
            }
        };
        run.task = run.seen[0].result.clone();
        run
    }

    pub(crate) fn agent(&self) -> Agent {
        self.server.agent(self.agent)
    }

    /// Answers the task's question and waits until the task rests again. Returns the Task of the
    /// answer.
    pub(crate) async fn answer(&mut self, message: Message) -> Value {
        let message = message.to(&self.task);
        if self.way == Way::Send {
            self.task = self.agent().settle(&message).await.expect("a task");
            return self.task.clone();
        }
        let mut events = self.agent().stream(&message).await;
        let first = events.remove(0);
        assert_eq!(first.result["kind"], "task");
        assert_eq!(
            Some(first.pos),
            self.seen.last().map(|event| event.pos),
            "it goes on where it was"
        );
        self.seen.extend(events);
        first.result
    }

    /// The crash, where there is one. What was seen before is still there afterwards, to the letter.
    pub(crate) async fn crash(&mut self) {
        if self.crash == Crash::Never {
            return;
        }
        self.server.crash();
        let agent = self.agent();
        let before = agent.subscribe(&self.task, Some(0)).await.take(self.seen.len()).await;
        assert_eq!(before, self.seen, "nothing is taken back");
        if self.way == Way::Send && self.seen.is_empty() {
            // What a request was told of its place is its own; the rest is the task's.
            let [mut now, mut then] = [agent.get(&self.task).await, self.task.clone()];
            (now["metadata"], then["metadata"]) = (Value::Null, Value::Null);
            assert_eq!(now, then, "the task is as it was answered");
        }
    }

    /// The crash, where there is one, in a place where the task moves on by itself.
    pub(crate) fn crash_now(&mut self) {
        if self.crash == Crash::InTheMiddle {
            self.server.crash();
        }
    }

    /// The open question's id.
    pub(crate) async fn question(&self) -> Value {
        self.agent().get(&self.task).await["status"]["message"]["metadata"]["questionId"].clone()
    }

    /// Follows the task to its end and returns everything that was told of it.
    pub(crate) async fn finish(&mut self) -> Vec<Value> {
        let agent = self.agent();
        if let Some(last) = self.seen.last().filter(|last| last.result["final"] != true) {
            let rest = agent.subscribe(&self.task, Some(last.pos)).await.rest().await;
            self.seen.extend(rest);
        }
        let whole = agent.replay(&self.task).await;
        if !self.seen.is_empty() {
            assert_eq!(whole, self.seen, "a replay is what was seen, without gap or repetition");
        }
        told(&whole)
    }
}
