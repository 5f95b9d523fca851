//! Starting runs.

use std::{fmt::Write as _, sync::Arc};

use sha2::{Digest, Sha256};
use trackway_domain::{File, Message, MessagePartContent, Part, RunCommand, RunId, RunSubmission, SessionId};
use trackway_ports::{AppendError, MessageClaim};

use crate::{
    Error, RunPin, SubmitRunRequest, SubmitRunResponse,
    command_execution::{CommandAttachments, CommitNotification},
    commit_handling::CommitResult,
    json_depth_limit::{self, is_message_json_too_deep},
    live_run::LiveRunRef,
    runtime_core::RuntimeCore,
};

/// Why a run was not created.
pub(crate) enum CreateRunError {
    /// A run of that id exists.
    Exists,
    /// The message was already accepted.
    Claimed(Box<MessageClaim>),
    Failed(Error),
}

impl RuntimeCore {
    pub(crate) async fn submit_run(
        self: &Arc<Self>,
        submit: SubmitRunRequest,
    ) -> Result<SubmitRunResponse, Error> {
        let registry = &self.options.registry;
        let Some(program) = registry.current_program(&submit.workflow) else {
            let why = registry.workflow_unavailable_reason(&submit.workflow);
            let (name, known) = (submit.workflow, registry.current_program_names());
            return Err(Error::UnknownWorkflow { name, known, why });
        };
        let info = program.info();
        let invalid = |problems| Error::InvalidInput { problems, schema: info.input_schema.clone() };
        if submit.message.as_ref().is_some_and(is_message_json_too_deep) {
            return Err(invalid(vec![json_depth_limit::json_too_deep_error()]));
        }
        let input = self.parse_program_input(&program, submit.input).await.map_err(invalid)?;
        let hook = submit.hook.map(|hook| hook.validate_new_hook(self)).transpose()?.map(|(_, hook)| hook);
        let claim = submit.message.as_ref().map(|message| {
            (self.message_claim_key(&submit.caller, &message.id), message_digest(&info.name, message))
        });
        let sent_claim = claim.as_ref().map(|(key, digest)| (key.message.clone(), digest.clone()));
        let submission = RunSubmission {
            run: RunId::new(self.options.ids.new_uuid()),
            session: submit.session.unwrap_or_else(|| SessionId::from_uuid(self.options.ids.new_uuid())),
            workflow: info.workflow_ref(),
            caller: submit.caller,
            input,
            message: submit.message.map(|message| put_resolved_files(message, submit.resolved_files)),
            parent: None,
            awaited: false,
            deadline: info.deadline.map(|span| self.now() + span),
            guided: false,
            exit: program.exit_workflow(),
            forked_from: None,
            call_chain: submit.call_chain,
            linked_session: submit.linked_session,
        };
        let hooks = hook.map(|hook| hook.set_hook_change_after(0)).into_iter().collect();
        let pins = program.pinned_source().into_iter().collect();
        let context = CommandAttachments {
            claim,
            notify_on: CommitNotification::View,
            hooks,
            pins,
            ..CommandAttachments::default()
        };
        match self.create_run(submission, context).await {
            Ok((commit, live)) => {
                let view = commit.view.ok_or(Error::Stopping)?;
                Ok(SubmitRunResponse { pin: RunPin(live), view, is_repeat: false })
            }
            Err(CreateRunError::Claimed(claim)) => self.repeated_submit_response(*claim, sent_claim).await,
            Err(CreateRunError::Exists) => Err(Error::Internal { reason: "a fresh run id was taken".into() }),
            Err(CreateRunError::Failed(error)) => Err(error),
        }
    }

    /// Creates a run and waits until it is durable. What its program does before its first effect is in the
    /// same append, if there is a free slot to drive it at once.
    pub(crate) async fn create_run(
        self: &Arc<Self>,
        submission: RunSubmission,
        mut context: CommandAttachments,
    ) -> Result<(CommitResult, LiveRunRef), CreateRunError> {
        context.permit = Some(self.acquire_append_permit().await.map_err(CreateRunError::Failed)?);
        let live = self.live_runs.get_or_create_live_run(self, submission.run);
        // There is nothing to read: everything that is known of the run is here. A caller that knew its id
        // may be reading already; that must be over before anything is decided.
        live.loaded.get_or_init(|| std::future::ready(())).await;
        let (pending, first_drive) = {
            let mut head = live.lock_head();
            if head.run.is_some() || head.stale {
                return Err(CreateRunError::Exists);
            }
            let first_drive = self.prepare_first_drive(&live, &mut head, &submission);
            let submit = RunCommand::Submit(Box::new(submission));
            let pending = self.decide_and_append(&live, &mut head, submit, context);
            let refused = |refusal| CreateRunError::Failed(Error::from_refusal(live.id, &refusal));
            (pending.map_err(refused)?, first_drive)
        };
        if let Some(first_drive) = first_drive {
            self.poll_prepared_then_drive_in_background(first_drive);
        }
        let commit = pending.commit.ok_or(CreateRunError::Failed(Error::Stopping))?;
        match commit.await {
            Ok(Ok(commit)) => Ok((commit, live)),
            Ok(Err(AppendError::Conflict { .. } | AppendError::Fenced { .. })) => Err(CreateRunError::Exists),
            Ok(Err(AppendError::Claimed(claim))) => Err(CreateRunError::Claimed(claim)),
            Ok(Err(error)) => Err(CreateRunError::Failed(Error::from_append_error(&error))),
            Err(_) => Err(CreateRunError::Failed(Error::Stopping)),
        }
    }

    /// The response to a repeated message: the run that it started, as it is now.
    async fn repeated_submit_response(
        self: &Arc<Self>,
        claim: MessageClaim,
        sent_claim: Option<(trackway_domain::MessageId, String)>,
    ) -> Result<SubmitRunResponse, Error> {
        if let Some((message, digest)) = sent_claim
            && digest != claim.digest
        {
            return Err(Error::MessageReused { message, run: claim.run });
        }
        let live = self.load_run_for_write(claim.run).await?;
        let view = live.lock_committed_state().view.clone().ok_or(Error::Stopping)?;
        Ok(SubmitRunResponse { pin: RunPin(live), view, is_repeat: true })
    }
}

/// The message with the contents of files that it names.
fn put_resolved_files(mut message: Message, files: Vec<File>) -> Message {
    for file in files {
        let is_same = |part: &&mut Part| match &part.content {
            MessagePartContent::File(own) => own.name.as_deref().map(str::trim) == file.name.as_deref(),
            MessagePartContent::Text(_) | MessagePartContent::Data(_) => false,
        };
        match message.parts.iter_mut().find(is_same) {
            Some(part) => part.content = MessagePartContent::File(file),
            None => message.parts.push(Part::file(file)),
        }
    }
    message
}

/// The entry of a message's metadata that is as much its content as its parts are: the artifacts that it is
/// invoked with.
const INVOKED_ARTIFACTS: &str = "invoked_with_artifacts";

/// Digest of a message's content and target. The id alone must not make two messages the same.
pub(crate) fn message_digest(workflow: &str, message: &Message) -> String {
    let mut hash = Sha256::new();
    hash.update(workflow.as_bytes());
    hash.update([0]);
    // Serialising parts cannot fail: they hold JSON values and strings.
    hash.update(serde_json::to_vec(&message.parts).unwrap_or_default());
    if let Some(artifacts) = message.metadata.get(INVOKED_ARTIFACTS) {
        hash.update([0]);
        hash.update(artifacts.to_string());
    }
    encode_hex(&hash.finalize())
}

pub(crate) fn encode_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
