//! Starting runs.

use std::{fmt::Write as _, sync::Arc};

use sha2::{Digest, Sha256};
use trackway_domain::{Command, Message, RunId, SessionId, Submission};
use trackway_ports::{AppendError, Claim};

use crate::{
    Error, Hold, Submit, Submitted,
    command::{Attached, Wants},
    commit::Commit,
    core::Core,
    depth::{self, message_too_deep},
    live::LiveRef,
};

/// Why a run was not created.
pub(crate) enum NotCreated {
    /// A run of that id exists.
    Exists,
    /// The message had been acted on.
    Claimed(Box<Claim>),
    Failed(Error),
}

impl Core {
    pub(crate) async fn submit(self: &Arc<Self>, submit: Submit) -> Result<Submitted, Error> {
        let registry = &self.options.registry;
        let Some(program) = registry.get(&submit.workflow) else {
            let why = registry.why_not(&submit.workflow);
            let (name, known) = (submit.workflow, registry.names());
            return Err(Error::UnknownWorkflow { name, known, why });
        };
        let info = program.info();
        let invalid =
            |problems| Error::InvalidInput { problems, schema: info.input_schema.clone() };
        if submit.message.as_ref().is_some_and(message_too_deep) {
            return Err(invalid(vec![depth::problem()]));
        }
        let input = self.read_input(&program, submit.input).await.map_err(invalid)?;
        let hook = submit.hook.map(|hook| hook.checked(self)).transpose()?.map(|(_, hook)| hook);
        let claim = submit.message.as_ref().map(|message| {
            (self.claim_key(&submit.caller, &message.id), digest(&info.name, message))
        });
        let sent = claim.as_ref().map(|(key, digest)| (key.message.clone(), digest.clone()));
        let submission = Submission {
            run: RunId::new(self.options.ids.uuid()),
            session: submit.session.unwrap_or_else(|| SessionId::made(self.options.ids.uuid())),
            workflow: info.workflow(),
            caller: submit.caller,
            input,
            message: submit.message,
            parent: None,
            awaited: false,
            deadline: info.deadline.map(|span| self.now() + span),
            guided: false,
            exit: program.exit(),
            forked_from: None,
        };
        let hooks = hook.map(|hook| hook.after(0)).into_iter().collect();
        let pins = program.pin().into_iter().collect();
        let attached = Attached { claim, wants: Wants::View, hooks, pins, ..Attached::default() };
        match self.create(submission, attached).await {
            Ok((commit, live)) => {
                let view = commit.view.ok_or(Error::Stopping)?;
                Ok(Submitted { hold: Hold(live), view, repeated: false })
            }
            Err(NotCreated::Claimed(claim)) => self.repeated(*claim, sent).await,
            Err(NotCreated::Exists) => {
                Err(Error::Internal { reason: "a fresh run id was taken".into() })
            }
            Err(NotCreated::Failed(error)) => Err(error),
        }
    }

    /// Creates a run and waits until it is durable. What its program does before its first effect is in the
    /// same append, where there is room to drive it at once.
    pub(crate) async fn create(
        self: &Arc<Self>,
        submission: Submission,
        mut attached: Attached,
    ) -> Result<(Commit, LiveRef), NotCreated> {
        attached.permit = Some(self.permit().await.map_err(NotCreated::Failed)?);
        let live = self.lives.enter(self, submission.run);
        // Nothing is to be read for it: everything that is known of the run is here. Somebody who knew
        // its id may be reading already; that must be over before anything is decided.
        live.loaded.get_or_init(|| std::future::ready(())).await;
        let (ordered, first_drive) = {
            let mut head = live.head();
            if head.run.is_some() || head.void {
                return Err(NotCreated::Exists);
            }
            let first_drive = self.prepare_first_drive(&live, &mut head, &submission);
            let submit = Command::Submit(Box::new(submission));
            let ordered = self.order(&live, &mut head, submit, attached);
            let refused = |refusal| NotCreated::Failed(Error::refused(live.id, &refusal));
            (ordered.map_err(refused)?, first_drive)
        };
        if let Some(first_drive) = first_drive {
            self.drive_first(first_drive);
        }
        let commit = ordered.commit.ok_or(NotCreated::Failed(Error::Stopping))?;
        match commit.await {
            Ok(Ok(commit)) => Ok((commit, live)),
            Ok(Err(AppendError::Conflict { .. } | AppendError::Fenced { .. })) => {
                Err(NotCreated::Exists)
            }
            Ok(Err(AppendError::Claimed(claim))) => Err(NotCreated::Claimed(claim)),
            Ok(Err(error)) => Err(NotCreated::Failed(Error::append(&error))),
            Err(_) => Err(NotCreated::Failed(Error::Stopping)),
        }
    }

    /// The same message again: the run that it started, as it is now.
    async fn repeated(
        self: &Arc<Self>,
        claim: Claim,
        sent: Option<(trackway_domain::MessageId, String)>,
    ) -> Result<Submitted, Error> {
        if let Some((message, digest)) = sent
            && digest != claim.digest
        {
            return Err(Error::MessageReused { message, run: claim.run });
        }
        let live = self.load(claim.run).await?;
        let view = live.shown().view.clone().ok_or(Error::Stopping)?;
        Ok(Submitted { hold: Hold(live), view, repeated: true })
    }
}

/// Digest of what a message says and where it went. The id alone must not make two messages one.
pub(crate) fn digest(workflow: &str, message: &Message) -> String {
    let mut hash = Sha256::new();
    hash.update(workflow.as_bytes());
    hash.update([0]);
    // Serialising parts cannot fail: they hold JSON values and strings.
    hash.update(serde_json::to_vec(&message.parts).unwrap_or_default());
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
