//! Messages to existing runs.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Weak},
};

use futures_util::future::maybe_done;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use trackway_domain::{MessageDelivery, MessageId, QuestionId, RunCommand, RunId, Seq};
use trackway_engine::{CommandRefusal, CommandReply, MessageDeliveryOutcome};
use trackway_ports::MessageClaimKey;

use crate::{
    DeliverMessageRequest, DeliverMessageResponse, Error, RunAddress, RunPin,
    command_execution::{CommandAttachments, CommitNotification, PendingCommit},
    hook_queue::ValidatedHook,
    json_depth_limit,
    live_run::{DecisionDurability, LiveRunRef},
    run_submission::message_digest,
    runtime_core::RuntimeCore,
};

impl RuntimeCore {
    /// The run at that address, for that caller, to decide something about it.
    pub(crate) async fn open_run_for_write(
        self: &Arc<Self>,
        address: &RunAddress,
    ) -> Result<LiveRunRef, Error> {
        // Kept until the second lookup, so that the run is not read twice.
        let _live = self.open_run_for_read(address).await?;
        self.load_run_for_write(address.run).await
    }

    /// The run at that address, for that caller. Any other run does not exist for this caller. A child is
    /// found at the address of its parent, because the parent's updates name it.
    pub(crate) async fn open_run_for_read(
        self: &Arc<Self>,
        address: &RunAddress,
    ) -> Result<LiveRunRef, Error> {
        let live = self.load_run_for_read(address.run).await?;
        let unknown = || Error::UnknownRun { run: address.run.to_string() };
        let (owner, workflow, parent) = {
            let head = live.lock_head();
            let submission = &head.run.as_ref().ok_or_else(unknown)?.submission;
            let workflow = submission.workflow.name.clone();
            (submission.caller.clone(), workflow, submission.parent)
        };
        if !address.access.covers_owner(&owner) {
            return Err(unknown());
        }
        let Some(name) = address.workflow.as_ref().filter(|name| **name != workflow) else {
            return Ok(live);
        };
        let parent = self.load_run_for_read(parent.ok_or_else(unknown)?).await?;
        let head = parent.lock_head();
        let is_its = head.run.as_ref().is_some_and(|run| run.submission.workflow.name == *name);
        if is_its { Ok(live) } else { Err(unknown()) }
    }

    /// `awaited_by` is the run that sends the message, if one does and waits for the next answer.
    pub(crate) async fn deliver_message(
        self: &Arc<Self>,
        deliver: DeliverMessageRequest,
        waiting_run: Option<RunId>,
    ) -> Result<DeliverMessageResponse, Error> {
        let key = self.message_claim_key(&deliver.to.access.caller, &deliver.message.id);
        // Both are read at the same time. If the message is recorded in the meantime, the store refuses it.
        let mut claim = pin!(maybe_done(self.options.journal.find_message_claim(key.clone())));
        let mut open = pin!(self.open_run_for_write(&deliver.to));
        let live = poll_fn(|cx| {
            let _ = claim.as_mut().poll(cx);
            open.as_mut().poll(cx)
        });
        let live = live.await?;
        let (session, workflow, last) = {
            let head = live.lock_head();
            let run = head.run.as_ref().ok_or(Error::Stopping)?;
            let submission = &run.submission;
            (submission.session.clone(), submission.workflow.name.clone(), run.last_question)
        };
        // Bound to the question that was open on arrival. While this message waits for its turn, the run may
        // receive another answer and ask the next question, which this message is not about.
        let shown =
            live.lock_committed_state().view.as_ref().and_then(|view| view.question.as_ref().map(|it| it.id));
        let question = deliver.question.or(shown);
        let _arriving = question.or(last).map(|question| {
            ArrivingMessageGuard::register_arriving_message(&live, question, deliver.message.id.clone())
        });
        if let Some(named) = deliver.session
            && named != session
        {
            return Err(Error::SessionMismatch { run: live.id, session: named });
        }
        if json_depth_limit::is_message_json_too_deep(&deliver.message) {
            return Err(Error::InvalidInput {
                problems: vec![json_depth_limit::json_too_deep_error()],
                schema: Value::Null,
            });
        }
        let hook = match deliver.hook {
            None => None,
            Some(hook) => {
                let (id, hook) = hook.validate_new_hook(self)?;
                self.check_hook_count_limit(live.id, &id).await?;
                Some(hook)
            }
        };
        let digest = message_digest(&workflow, &deliver.message);
        claim.as_mut().await;
        if let Some(claim) = claim.take_output().transpose()?.flatten() {
            if claim.digest != digest || claim.run != live.id {
                return Err(Error::MessageReused { message: key.message, run: claim.run });
            }
            return self.repeated_message_response(&live, &key.message, &claim.reply).await;
        }
        self.discover_answer_type_by_replay(&live, question).await?;
        let reading = self.parse_large_answer_off_thread(&live, question, &deliver.message).await;
        let delivery = MessageDelivery {
            message: deliver.message,
            question,
            has_concurrent: false,
            awaited_by: waiting_run,
            parsed_answer: reading,
            is_program_idle: false,
        };
        self.deliver_message_with_retry(live.clone(), delivery, (key, digest), hook).await
    }

    async fn deliver_message_with_retry(
        self: &Arc<Self>,
        mut live: LiveRunRef,
        mut delivery: MessageDelivery,
        (key, digest): (MessageClaimKey, String),
        hook: Option<ValidatedHook>,
    ) -> Result<DeliverMessageResponse, Error> {
        loop {
            let permit = self.acquire_append_permit().await?;
            let mut rests = live.idle_count.subscribe();
            delivery.has_concurrent = has_concurrent_answers(&live, &delivery);
            match self.try_deliver_message(
                &live,
                &delivery,
                (key.clone(), digest.clone()),
                hook.as_ref(),
                permit,
            ) {
                DeliveryAttemptOutcome::ReusedId => {
                    return Err(Error::MessageReused { message: key.message, run: live.id });
                }
                DeliveryAttemptOutcome::Repeated(reply, seq) => {
                    if live.wait_until_seq_committed(seq).await != DecisionDurability::Stale {
                        return self.repeated_message_response(&live, &key.message, &reply).await;
                    }
                }
                DeliveryAttemptOutcome::ProgramNotIdle { has_program, question } => {
                    // It was sent to the question that is open now, not to one that is asked in the meantime.
                    delivery.question = delivery.question.or(question);
                    // A message that waits here must not keep others from committing.
                    if !has_program {
                        self.wake_run(live.id);
                    }
                    let mut stopping = self.stopping.subscribe();
                    tokio::select! {
                        _ = rests.changed() => {}
                        _ = stopping.wait_for(|stop| *stop) => return Err(Error::Stopping),
                    }
                    continue;
                }
                DeliveryAttemptOutcome::Refused(refusal) => {
                    if let Some(error) = self.refuse_after_commit(&live, &refusal).await {
                        return Err(error);
                    }
                }
                DeliveryAttemptOutcome::Stale => {}
                DeliveryAttemptOutcome::Decided(ordered) => {
                    if let Some((CommandReply::Delivered(delivered), commit)) =
                        self.wait_for_commit(&live, ordered).await?
                    {
                        let view = commit.view.ok_or(Error::Stopping)?;
                        let (hold, before) = (RunPin(live), commit.last_position);
                        return Ok(DeliverMessageResponse {
                            pin: hold,
                            view,
                            last_position: before,
                            delivered,
                            is_repeat: false,
                        });
                    }
                }
            }
            // The race was lost: to another process, or to the same message sent twice at once.
            live = self.load_run_for_write(live.id).await?;
            if let Some(claim) = self.options.journal.find_message_claim(key.clone()).await? {
                if claim.digest != digest || claim.run != live.id {
                    return Err(Error::MessageReused { message: key.message, run: claim.run });
                }
                return self.repeated_message_response(&live, &key.message, &claim.reply).await;
            }
        }
    }

    /// One attempt to decide on the head.
    fn try_deliver_message(
        self: &Arc<Self>,
        live: &LiveRunRef,
        delivery: &MessageDelivery,
        claim: (MessageClaimKey, String),
        hook: Option<&ValidatedHook>,
        permit: OwnedSemaphorePermit,
    ) -> DeliveryAttemptOutcome {
        let mut head = live.lock_head();
        if head.stale {
            return DeliveryAttemptOutcome::Stale;
        }
        if let Some((known, reply)) = head.claims.get(&claim.0) {
            let seq = head.run.as_ref().map_or(0, |run| run.seq);
            return if *known == claim.1 {
                DeliveryAttemptOutcome::Repeated(reply.clone(), seq)
            } else {
                DeliveryAttemptOutcome::ReusedId
            };
        }
        let newest = head.run.as_ref().map_or(0, |run| run.seq);
        let mut delivery = delivery.clone();
        let program = head.program.upgrade();
        delivery.is_program_idle |= match &program {
            Some(program) => program.lock_replay_state().is_program_idle(),
            None => !head.runnable || head.is_undrivable,
        };
        delivery.is_program_idle |= head.run.as_ref().is_some_and(|run| run.parked.is_some());
        let command = RunCommand::Deliver(Box::new(delivery));
        let waits = program.is_none() && !head.runnable;
        let next_drive = if waits { self.prepare_next_drive(live, &mut head) } else { None };
        let attached = CommandAttachments {
            claim: Some(claim),
            hooks: hook.map(|hook| hook.set_hook_change_after(newest)).into_iter().collect(),
            notify_on: CommitNotification::View,
            waits_for_program: next_drive.is_some(),
            permit: Some(permit),
            ..CommandAttachments::default()
        };
        let turn = match self.decide_and_append(live, &mut head, command, attached) {
            Ok(ordered) => DeliveryAttemptOutcome::Decided(ordered),
            Err(CommandRefusal::ProgramNotIdle) => {
                let open = head.run.as_ref().and_then(|run| run.state.open_question());
                let question = open.map(|question| question.id);
                DeliveryAttemptOutcome::ProgramNotIdle { has_program: program.is_some(), question }
            }
            Err(refusal) => DeliveryAttemptOutcome::Refused(refusal),
        };
        let Some(next_drive) = next_drive else { return turn };
        if head.runnable {
            next_drive.require_durable_up_to(head.run.as_ref().map_or(newest, |run| run.seq));
            drop(head);
            self.poll_prepared_then_drive_in_background(next_drive);
        } else {
            // The question is still open. What was recorded goes to the store by itself.
            head.program = Weak::new();
            drop(head);
            live.flush_buffered_appends(self);
        }
        turn
    }

    async fn repeated_message_response(
        &self,
        live: &LiveRunRef,
        message: &MessageId,
        reply: &Value,
    ) -> Result<DeliverMessageResponse, Error> {
        let view = live.lock_committed_state().view.clone().ok_or(Error::Stopping)?;
        let before = view.pos;
        let delivered = match RecordedAnswerReply::deserialize(reply) {
            Ok(answer) => MessageDeliveryOutcome::Answer {
                question: answer.question,
                order: answer.order,
                concurrent: answer.concurrent,
                primary: answer.primary,
                problems: match answer.primary {
                    true => Vec::new(),
                    false => self.load_recorded_answer_errors(live.id, message).await?,
                },
            },
            Err(_) => MessageDeliveryOutcome::Noted,
        };
        Ok(DeliverMessageResponse {
            pin: RunPin(live.clone()),
            view,
            last_position: before,
            delivered,
            is_repeat: true,
        })
    }
}

/// Marks a message as on its way to a question for as long as this value lives.
struct ArrivingMessageGuard<'a> {
    live: &'a LiveRunRef,
    at: (QuestionId, MessageId),
}

impl<'a> ArrivingMessageGuard<'a> {
    fn register_arriving_message(live: &'a LiveRunRef, question: QuestionId, message: MessageId) -> Self {
        let at = (question, message);
        live.lock_arriving_answers().push(at.clone());
        Self { live, at }
    }
}

impl Drop for ArrivingMessageGuard<'_> {
    fn drop(&mut self) {
        let mut arriving = self.live.lock_arriving_answers();
        if let Some(place) = arriving.iter().position(|at| *at == self.at) {
            arriving.swap_remove(place);
        }
    }
}

/// Whether other messages are on their way to the same question. The same message twice is one.
fn has_concurrent_answers(live: &LiveRunRef, delivery: &MessageDelivery) -> bool {
    let last = || live.lock_head().run.as_ref().and_then(|run| run.last_question);
    let Some(question) = delivery.question.or_else(last) else { return false };
    live.lock_arriving_answers()
        .iter()
        .any(|(at, message)| *at == question && *message != delivery.message.id)
}

/// The result of one attempt to decide on the head.
enum DeliveryAttemptOutcome {
    Decided(PendingCommit),
    /// The program has not yet seen everything that was recorded before.
    ProgramNotIdle {
        has_program: bool,
        /// The question that is open.
        question: Option<QuestionId>,
    },
    Refused(CommandRefusal),
    /// The same message was accepted before, but may not be durable yet.
    Repeated(Value, Seq),
    /// Another message with the same id was accepted before.
    ReusedId,
    Stale,
}

/// The reply stored with an answer's claim. Without one, the message was recorded for the history. What was
/// wrong with an answer is in the log.
#[derive(Deserialize)]
struct RecordedAnswerReply {
    question: QuestionId,
    order: u32,
    concurrent: bool,
    primary: bool,
}
