//! Messages to runs that exist.

use std::sync::{Arc, atomic::Ordering};

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
    submit::{Arriving, digest},
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
        let live = match self.load_to_read(address.run).await {
            Err(Error::UnknownRun { .. }) => {
                // Its parent's log may name it already, though the errand that starts it is still owed.
                self.start_owed(address.run).await?;
                self.load_to_read(address.run).await?
            }
            loaded => loaded?,
        };
        let unknown = || Error::UnknownRun { run: address.run.to_string() };
        let (tenant, workflow, parent) = {
            let head = live.head();
            let submission = &head.run.as_ref().ok_or_else(unknown)?.submission;
            let workflow = submission.workflow.name.clone();
            (submission.caller.tenant.clone(), workflow, submission.parent)
        };
        if tenant != address.caller.tenant {
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
        let live = self.open(&deliver.to).await?;
        let _arriving = Arriving::at(&live.arriving);
        let (session, workflow, open) = {
            let head = live.head();
            let run = head.run.as_ref().ok_or(Error::Stopping)?;
            let open = run.state.question().map(|question| question.id);
            (run.submission.session.clone(), run.submission.workflow.name.clone(), open)
        };
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
        // Bound to the question that was open on arrival: while this message waits for its turn the
        // run may answer another and ask the next, which this message is not about.
        let question = deliver.question.or(open);
        let key = self.claim_key(&deliver.to.caller, &deliver.message.id);
        let digest = digest(&workflow, &deliver.message);
        if let Some(claim) = self.options.journal.claim(key.clone()).await? {
            if claim.digest != digest || claim.run != live.id {
                return Err(Error::MessageReused { message: key.message, run: claim.run });
            }
            return self.answered_before(&live, &key.message, &claim.reply).await;
        }
        self.learn_answer_type(&live, question).await?;
        let reading = self.read_ahead(&live, question, &deliver.message).await;
        let message = deliver.message;
        let delivery = Delivery { message, question, others: false, awaited_by, reading };
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
            delivery.others = live.arriving.load(Ordering::Relaxed) > 1;
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
        let attached = Attached {
            claim: Some(claim),
            hooks: hook.map(|hook| hook.after(newest)).into_iter().collect(),
            wants: Wants::View,
            permit: Some(permit),
            settles: None,
            pins: Vec::new(),
        };
        let command = Command::Deliver(Box::new(delivery.clone()));
        match self.order(live, &mut head, command, attached) {
            Ok(ordered) => Turn::Ordered(ordered),
            Err(refusal) => Turn::Refused(refusal),
        }
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

/// What came of one try at the head.
enum Turn {
    Ordered(Ordered),
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
