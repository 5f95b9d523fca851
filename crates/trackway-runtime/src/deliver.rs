//! Messages to runs that exist.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Weak},
};

use futures_util::future::maybe_done;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use trackway_domain::{Command, Delivery, MessageId, QuestionId, RunId, Seq};
use trackway_engine::{Delivered, Refusal, Reply};
use trackway_ports::ClaimKey;

use crate::{
    Answered, Deliver, Error, Hold, RunAddress,
    command::{Attached, Ordered, Wants},
    core::Core,
    depth,
    hooks::HookSetter,
    live::{Durable, LiveRef},
    submit::digest,
};

impl Core {
    /// The run at that address, for that caller, to decide something about it.
    pub(crate) async fn open(self: &Arc<Self>, address: &RunAddress) -> Result<LiveRef, Error> {
        // Held until the second look, so that it is not read twice.
        let _live = self.open_to_read(address).await?;
        self.load(address.run).await
    }

    /// The run at that address, for that caller. Anything else does not exist; but a child is found where
    /// its parent is, which told of it.
    pub(crate) async fn open_to_read(
        self: &Arc<Self>,
        address: &RunAddress,
    ) -> Result<LiveRef, Error> {
        let live = self.load_to_read(address.run).await?;
        let unknown = || Error::UnknownRun { run: address.run.to_string() };
        let (owner, workflow, parent) = {
            let head = live.head();
            let submission = &head.run.as_ref().ok_or_else(unknown)?.submission;
            let workflow = submission.workflow.name.clone();
            (submission.caller.clone(), workflow, submission.parent)
        };
        if !address.access.covers(&owner) {
            return Err(unknown());
        }
        let Some(name) = address.workflow.as_ref().filter(|name| **name != workflow) else {
            return Ok(live);
        };
        let parent = self.load_to_read(parent.ok_or_else(unknown)?).await?;
        let head = parent.head();
        let is_its = head.run.as_ref().is_some_and(|run| run.submission.workflow.name == *name);
        if is_its { Ok(live) } else { Err(unknown()) }
    }

    /// `awaited_by` is the run that sends it, where one does and waits for what is said next.
    pub(crate) async fn deliver(
        self: &Arc<Self>,
        deliver: Deliver,
        awaited_by: Option<RunId>,
    ) -> Result<Answered, Error> {
        let key = self.claim_key(&deliver.to.access.caller, &deliver.message.id);
        // Both are read at the same time. A message that is recorded meanwhile is refused by the store.
        let mut claim = pin!(maybe_done(self.options.journal.claim(key.clone())));
        let mut open = pin!(self.open(&deliver.to));
        let live = poll_fn(|cx| {
            let _ = claim.as_mut().poll(cx);
            open.as_mut().poll(cx)
        });
        let live = live.await?;
        let (session, workflow, last) = {
            let head = live.head();
            let run = head.run.as_ref().ok_or(Error::Stopping)?;
            let submission = &run.submission;
            (submission.session.clone(), submission.workflow.name.clone(), run.last_question)
        };
        // Bound to the question that was shown on arrival: while this message waits for its turn the run may
        // answer another and ask the next, which this message is not about.
        let shown =
            live.shown().view.as_ref().and_then(|view| view.question.as_ref().map(|it| it.id));
        let question = deliver.question.or(shown);
        let _arriving = question
            .or(last)
            .map(|question| Arriving::at(&live, question, deliver.message.id.clone()));
        if let Some(named) = deliver.session
            && named != session
        {
            return Err(Error::SessionMismatch { run: live.id, session: named });
        }
        if depth::message_too_deep(&deliver.message) {
            return Err(Error::InvalidInput {
                problems: vec![depth::problem()],
                schema: Value::Null,
            });
        }
        let hook = match deliver.hook {
            None => None,
            Some(hook) => {
                let (id, hook) = hook.checked(self)?;
                self.room_for_hook(live.id, &id).await?;
                Some(hook)
            }
        };
        let digest = digest(&workflow, &deliver.message);
        claim.as_mut().await;
        if let Some(claim) = claim.take_output().transpose()?.flatten() {
            if claim.digest != digest || claim.run != live.id {
                return Err(Error::MessageReused { message: key.message, run: claim.run });
            }
            return self.answered_before(&live, &key.message, &claim.reply).await;
        }
        self.learn_answer_type(&live, question).await?;
        let reading = self.read_ahead(&live, question, &deliver.message).await;
        let delivery = Delivery {
            message: deliver.message,
            question,
            others: false,
            awaited_by,
            reading,
            settled: false,
        };
        self.take(live.clone(), delivery, (key, digest), hook).await
    }

    async fn take(
        self: &Arc<Self>,
        mut live: LiveRef,
        mut delivery: Delivery,
        (key, digest): (ClaimKey, String),
        hook: Option<HookSetter>,
    ) -> Result<Answered, Error> {
        loop {
            let permit = self.permit().await?;
            let mut rests = live.rests.subscribe();
            delivery.others = others(&live, &delivery);
            match self.turn(&live, &delivery, (key.clone(), digest.clone()), hook.as_ref(), permit)
            {
                Turn::Reused => {
                    return Err(Error::MessageReused { message: key.message, run: live.id });
                }
                Turn::Repeated(reply, seq) => {
                    if live.until_committed(seq).await != Durable::Void {
                        return self.answered_before(&live, &key.message, &reply).await;
                    }
                }
                Turn::NotSettled { has_program, question } => {
                    // It was sent to the question that is open now, and not to one that is put meanwhile.
                    delivery.question = delivery.question.or(question);
                    // Whoever waits here must not keep others from committing.
                    if !has_program {
                        self.wake(live.id);
                    }
                    let mut stopping = self.stopping.subscribe();
                    tokio::select! {
                        _ = rests.changed() => {}
                        _ = stopping.wait_for(|stop| *stop) => return Err(Error::Stopping),
                    }
                    continue;
                }
                Turn::Refused(refusal) => {
                    if let Some(error) = self.refuse(&live, &refusal).await {
                        return Err(error);
                    }
                }
                Turn::Void => {}
                Turn::Ordered(ordered) => {
                    if let Some((Reply::Delivered(delivered), commit)) =
                        self.durable(&live, ordered).await?
                    {
                        let view = commit.view.ok_or(Error::Stopping)?;
                        let (hold, before) = (Hold(live), commit.before);
                        return Ok(Answered { hold, view, before, delivered, repeated: false });
                    }
                }
            }
            // The race was lost: by another process, or by the same message sent twice at once.
            live = self.load(live.id).await?;
            if let Some(claim) = self.options.journal.claim(key.clone()).await? {
                if claim.digest != digest || claim.run != live.id {
                    return Err(Error::MessageReused { message: key.message, run: claim.run });
                }
                return self.answered_before(&live, &key.message, &claim.reply).await;
            }
        }
    }

    /// One try at the head.
    fn turn(
        self: &Arc<Self>,
        live: &LiveRef,
        delivery: &Delivery,
        claim: (ClaimKey, String),
        hook: Option<&HookSetter>,
        permit: OwnedSemaphorePermit,
    ) -> Turn {
        let mut head = live.head();
        if head.void {
            return Turn::Void;
        }
        if let Some((known, reply)) = head.claims.get(&claim.0) {
            let seq = head.run.as_ref().map_or(0, |run| run.seq);
            return if *known == claim.1 {
                Turn::Repeated(reply.clone(), seq)
            } else {
                Turn::Reused
            };
        }
        let newest = head.run.as_ref().map_or(0, |run| run.seq);
        let mut delivery = delivery.clone();
        let program = head.program.upgrade();
        delivery.settled |= match &program {
            Some(program) => program.book().is_settled(),
            None => !head.runnable || head.undrivable,
        };
        delivery.settled |= head.run.as_ref().is_some_and(|run| run.parked.is_some());
        let command = Command::Deliver(Box::new(delivery));
        let waits = program.is_none() && !head.runnable;
        let next_drive = if waits { self.prepare_next_drive(live, &mut head) } else { None };
        let attached = Attached {
            claim: Some(claim),
            hooks: hook.map(|hook| hook.after(newest)).into_iter().collect(),
            wants: Wants::View,
            with_program: next_drive.is_some(),
            permit: Some(permit),
            ..Attached::default()
        };
        let turn = match self.order(live, &mut head, command, attached) {
            Ok(ordered) => Turn::Ordered(ordered),
            Err(Refusal::NotSettled) => {
                let open = head.run.as_ref().and_then(|run| run.state.question());
                let question = open.map(|question| question.id);
                Turn::NotSettled { has_program: program.is_some(), question }
            }
            Err(refusal) => Turn::Refused(refusal),
        };
        let Some(next_drive) = next_drive else { return turn };
        if head.runnable {
            next_drive.goes_on_by(head.run.as_ref().map_or(newest, |run| run.seq));
            drop(head);
            self.drive_first(next_drive);
        } else {
            // The question is still open. What was recorded goes to the store by itself.
            head.program = Weak::new();
            drop(head);
            live.release(self);
        }
        turn
    }

    async fn answered_before(
        &self,
        live: &LiveRef,
        message: &MessageId,
        reply: &Value,
    ) -> Result<Answered, Error> {
        let view = live.shown().view.clone().ok_or(Error::Stopping)?;
        let before = view.pos;
        let delivered = match RecordedAnswer::deserialize(reply) {
            Ok(answer) => Delivered::Answer {
                question: answer.question,
                order: answer.order,
                concurrent: answer.concurrent,
                primary: answer.primary,
                problems: match answer.primary {
                    true => Vec::new(),
                    false => self.recorded_problems(live.id, message).await?,
                },
            },
            Err(_) => Delivered::Noted,
        };
        Ok(Answered { hold: Hold(live.clone()), view, before, delivered, repeated: true })
    }
}

/// A message on its way to a question, for as long as it lives.
struct Arriving<'a> {
    live: &'a LiveRef,
    at: (QuestionId, MessageId),
}

impl<'a> Arriving<'a> {
    fn at(live: &'a LiveRef, question: QuestionId, message: MessageId) -> Self {
        let at = (question, message);
        live.arriving().push(at.clone());
        Self { live, at }
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        let mut arriving = self.live.arriving();
        if let Some(place) = arriving.iter().position(|at| *at == self.at) {
            arriving.swap_remove(place);
        }
    }
}

/// Whether other messages are on their way to the same question. The same message twice is one.
fn others(live: &LiveRef, delivery: &Delivery) -> bool {
    let last = || live.head().run.as_ref().and_then(|run| run.last_question);
    let Some(question) = delivery.question.or_else(last) else { return false };
    live.arriving().iter().any(|(at, message)| *at == question && *message != delivery.message.id)
}

/// What came of one try at the head.
enum Turn {
    Ordered(Ordered),
    /// The program has not seen everything yet that was recorded before.
    NotSettled {
        has_program: bool,
        /// The question that is open.
        question: Option<QuestionId>,
    },
    Refused(Refusal),
    /// The same message was taken before, but may not be durable yet.
    Repeated(Value, Seq),
    /// Another message under the same id was.
    Reused,
    Void,
}

/// The reply stored with an answer's claim; anything else was a message for the history. What was wrong
/// with it is in the log.
#[derive(Deserialize)]
struct RecordedAnswer {
    question: QuestionId,
    order: u32,
    concurrent: bool,
    primary: bool,
}
