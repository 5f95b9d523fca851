//! The operations on runs, for the REST handlers and for a command line with the engine in its own
//! process.

use serde_json::Value;
use trackway_agent::ModelUsageReport;
use trackway_domain::{
    Access, ErrorCode, Event, JSON_DEPTH_MAX, Message, MessageId, MessageRole, Part, Position, RunId,
    SessionId, StateName, is_json_too_deep,
};
use trackway_engine::{MessageDeliveryOutcome, RunTree};
use trackway_ports::{FORMAT_LATEST, IdSource, encode_event};
use trackway_runtime::{
    DeliverMessageRequest, ProgramKind, RunAddress, RunWatch, Runtime, SubmitRunRequest, SystemIds,
};

use super::attached_files::{self, FILES_MAX};
use super::run_listing::list_visible_runs_with;
use super::wire_types::{
    EventPage, EventRecord, ForkRequest, GuidedDetail, PinnedDefinition, ResumeRank, ResumeRequest,
    ResumeResponse, RunDetail, RunList, RunListFilter, RunUpdate, StartRequest,
};

/// Most events on one page.
/// Limit (HTTP): events on a page.
const PAGE_EVENTS_MAX: usize = 500;

/// A page ends when its events have this many bytes, so that a log of large artifacts is never in memory
/// as a whole.
/// Limit (HTTP): bytes of events on a page.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Why an operation on runs was refused or failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunsError {
    #[error(transparent)]
    Runtime(#[from] trackway_runtime::Error),
    #[error("{run} is {state} and has no open question")]
    NotWaiting { run: RunId, state: StateName },
    #[error("the input is nested deeper than {JSON_DEPTH_MAX} levels")]
    TooDeep,
    #[error("the file {name:?} cannot be attached: {why}")]
    BadFile { name: String, why: &'static str },
    #[error("a message may have {FILES_MAX} files, not {count}")]
    TooManyFiles { count: usize },
}

impl RunsError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::NotWaiting { .. } | Self::BadFile { .. } => ErrorCode::InvalidRequest,
            Self::TooDeep | Self::TooManyFiles { .. } => ErrorCode::TooLarge,
        }
    }
}

/// The runs of one engine, for one caller.
#[derive(Debug, Clone)]
pub struct RunsService {
    runtime: Runtime,
    access: Access,
}

impl RunsService {
    /// For the local caller, without auth.
    pub fn for_local_caller(runtime: Runtime) -> Self {
        Self::with_access(runtime, Access::local_without_auth())
    }

    /// Runs that the access does not cover do not exist for the caller.
    pub fn with_access(runtime: Runtime, access: Access) -> Self {
        Self { runtime, access }
    }

    pub async fn list_runs(&self, filter: RunListFilter) -> Result<RunList, RunsError> {
        let read = |wanted, before, limit| self.runtime.list_runs(wanted, before, limit);
        Ok(list_visible_runs_with(&self.access, filter, read).await?)
    }

    /// Returns when the run is durable.
    pub async fn start_run(&self, request: StartRequest) -> Result<RunDetail, RunsError> {
        let StartRequest { workflow, input, session_id, files } = request;
        let mut message = match &input {
            // A plain string becomes a text part.
            Value::String(text) => user_message_from_parts(vec![Part::text(text)]),
            input => message_from_input(input)?,
        };
        message.parts.extend(attached_files::parts_from_attached_files(files)?);
        let caller = self.access.caller.clone();
        let submit = SubmitRunRequest {
            session: session_id,
            message: Some(message),
            ..SubmitRunRequest::new(workflow, input, caller)
        };
        let submitted = self.runtime.submit_run(submit).await?;
        Ok((&submitted.view).into())
    }

    pub async fn load_run_detail(&self, run: RunId) -> Result<RunDetail, RunsError> {
        let view = self.runtime.current_run_view(&self.run_address(run)).await?;
        let detail = RunDetail::from(&view);
        // Workflows call no models, so their logs need not be read.
        let program = self.runtime.registry().current_program(&detail.summary.workflow);
        if program.is_some_and(|program| program.info().kind == ProgramKind::Workflow) {
            return Ok(detail);
        }
        let (usage, guided) = self.load_usage_and_guided_detail(run, view.pos).await?;
        Ok(RunDetail { usage, guided, ..detail })
    }

    /// What only the whole log contains, up to a position: the usage of the run, and the position of an
    /// outside agent.
    async fn load_usage_and_guided_detail(
        &self,
        run: RunId,
        newest: Position,
    ) -> Result<(Option<ModelUsageReport>, Option<GuidedDetail>), RunsError> {
        let mut watch = self.runtime.watch_run(&self.run_address(run), 0).await?;
        let mut bill = ModelUsageReport::default();
        let mut track: Option<RunTree> = None;
        // Without the comparison the watch would wait for what has not happened yet.
        let mut seen = 0;
        while seen < newest {
            let Some(stored) = watch.next_event().await? else { break };
            seen = stored.pos;
            if let Some(one) = ModelUsageReport::report_from_events([&stored.event]) {
                bill.merge_usage_report(&one);
            }
            match (&mut track, &stored.event) {
                // An event that does not fit is ignored: the state before it is returned.
                (Some(track), event) => drop(track.apply_event(event, stored.at)),
                (None, Event::Submitted(first)) if first.guided => {
                    track = Some(RunTree::from_submission(first, stored.at));
                }
                (None, _) => {}
            }
        }
        let guided = track.as_ref().and_then(GuidedDetail::from_run_tree);
        Ok(((bill.total.calls > 0).then_some(bill), guided))
    }

    /// The name of the run's workflow.
    pub(super) async fn run_workflow_name(&self, run: RunId) -> Result<String, RunsError> {
        Ok(self.runtime.current_run_view(&self.run_address(run)).await?.submission.workflow.name.clone())
    }

    /// Answers the run's question. An invalid answer is not an error of this call: the question is asked
    /// again, and that is recorded.
    pub async fn resume_run(&self, run: RunId, request: ResumeRequest) -> Result<ResumeResponse, RunsError> {
        let view = self.runtime.current_run_view(&self.run_address(run)).await?;
        // A message to a run without a question would only join its history, which is not what a resume
        // means.
        if !view.state.is_terminal() && view.question.is_none() && request.question_id.is_none() {
            return Err(RunsError::NotWaiting { run, state: view.state });
        }
        let deliver = DeliverMessageRequest {
            to: self.run_address(run),
            session: None::<SessionId>,
            message: message_from_input(&request.input)?,
            question: request.question_id,
            hook: None,
        };
        let answered = self.runtime.deliver_message(deliver).await?;
        let (answer, errors) = match answered.delivered {
            MessageDeliveryOutcome::Noted => (None, Vec::new()),
            MessageDeliveryOutcome::Answer { order, concurrent, primary, problems, question: _ } => {
                let mark = ResumeRank {
                    request_order: order,
                    concurrent_request: concurrent,
                    primary_resume: primary,
                };
                (Some(mark), problems)
            }
        };
        Ok(ResumeResponse { run: (&answered.view).into(), answer, errors, after: answered.last_position })
    }

    /// The run, already canceled.
    pub async fn cancel_run(&self, run: RunId) -> Result<RunDetail, RunsError> {
        Ok((&self.runtime.cancel_run(&self.run_address(run)).await?).into())
    }

    /// Takes responsibility for an imported run, which then continues.
    pub async fn adopt_run(&self, run: RunId) -> Result<RunDetail, RunsError> {
        Ok((&self.runtime.adopt_imported_run(&self.run_address(run)).await?).into())
    }

    /// The new run, which shares the log of this one up to a point.
    pub async fn fork_run(&self, run: RunId, request: ForkRequest) -> Result<RunDetail, RunsError> {
        let ForkRequest { at, session_id } = request;
        Ok((&self.runtime.fork_run(&self.run_address(run), at, session_id).await?).into())
    }

    /// The definition that the run is pinned to, in its normal form; none if a program runs it.
    pub async fn load_run_definition(&self, run: RunId) -> Result<PinnedDefinition, RunsError> {
        let definition = self.runtime.load_run_definition(&self.run_address(run)).await?;
        Ok(PinnedDefinition { definition })
    }

    /// Recorded events after a position, at most a page of them. It does not wait.
    pub async fn list_run_events(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> Result<EventPage, RunsError> {
        let address = self.run_address(run);
        let newest = self.runtime.current_run_view(&address).await?.pos;
        let mut watch = self.runtime.watch_run(&address, after).await?;
        let mut page = EventPage { format: FORMAT_LATEST, events: Vec::new(), next: None };
        let (limit, mut bytes) = (limit.min(PAGE_EVENTS_MAX), 0);
        let mut seen = after;
        // Without the comparison the watch would wait for what has not happened yet.
        while seen < newest {
            if page.events.len() == limit || bytes > PAGE_BYTES_MAX {
                page.next = Some(seen);
                break;
            }
            let Some(stored) = watch.next_event().await? else {
                break;
            };
            seen = stored.pos;
            bytes += encode_event(&stored.event).len();
            page.events.push(EventRecord::from(stored));
        }
        Ok(page)
    }

    /// All updates of the run after a position, as they happen.
    pub async fn watch_run_updates(&self, run: RunId, after: Position) -> Result<RunUpdateStream, RunsError> {
        let watch = self.runtime.watch_run(&self.run_address(run), after).await?;
        Ok(RunUpdateStream { run, watch })
    }

    fn run_address(&self, run: RunId) -> RunAddress {
        RunAddress { run, access: self.access.clone(), workflow: None }
    }
}

/// A subscription to the updates of a run.
#[derive(Debug)]
pub struct RunUpdateStream {
    run: RunId,
    watch: RunWatch,
}

impl RunUpdateStream {
    /// The next update. `None` when the run has ended and all updates were returned, or when the engine
    /// stops. Dropping the future loses nothing.
    pub async fn next_update(&mut self) -> Result<Option<RunUpdate>, RunsError> {
        Ok(self.next_update_with_size().await?.map(|(update, _)| update))
    }

    /// The same, with its approximate size in bytes.
    pub(super) async fn next_update_with_size(&mut self) -> Result<Option<(RunUpdate, usize)>, RunsError> {
        while let Some(stored) = self.watch.next_event().await? {
            if let Some(sized) = RunUpdate::update_and_size_from_event(self.run, &stored) {
                return Ok(Some(sized));
            }
        }
        Ok(None)
    }

    /// The last update again.
    pub(super) async fn repeat_last_update(&self) -> Result<Option<(RunUpdate, usize)>, RunsError> {
        let stored = self.watch.reload_last_event().await?;
        Ok(stored.and_then(|stored| RunUpdate::update_and_size_from_event(self.run, &stored)))
    }
}

/// The message for the run's history, for an input that came without one.
fn message_from_input(input: &Value) -> Result<Message, RunsError> {
    if is_json_too_deep(input) {
        return Err(RunsError::TooDeep);
    }
    Ok(user_message_from_parts(vec![Part::data(input.clone())]))
}

fn user_message_from_parts(parts: Vec<Part>) -> Message {
    Message::new(MessageId::from_uuid(SystemIds.new_uuid()), MessageRole::User, parts)
}
