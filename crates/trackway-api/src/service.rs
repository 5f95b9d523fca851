//! What can be asked about runs, whoever asks: the REST handlers, and the command line where it has
//! the engine in its own process.

use serde_json::Value;
use trackway_agent::Bill;
use trackway_domain::{
    Access, Code, Event, JSON_DEPTH_MAX, Message, MessageId, Part, Pos, Role, RunId, SessionId,
    StateName, is_too_deep,
};
use trackway_engine::{Delivered, RunTrack};
use trackway_ports::{FORMAT_NEWEST, Ids, encode};
use trackway_runtime::{Deliver, Kind, RunAddress, Runtime, Submit, SystemIds, Watch};

use super::listing::list;
use super::shapes::{
    EventPage, EventRecord, ForkRequest, GuidedDetail, ListFilter, PinnedDefinition, ResumeMark,
    ResumeRequest, Resumed, RunDetail, RunList, RunUpdate, StartRequest,
};

/// Events in one page at the most.
/// Limit (HTTP): events on a page.
const PAGE_EVENTS_MAX: usize = 500;

/// A page ends when its events have this many bytes, so that a log of large artifacts is not in
/// memory at once.
/// Limit (HTTP): bytes of events on a page.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Why something asked about runs was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunsError {
    #[error(transparent)]
    Runtime(#[from] trackway_runtime::Error),
    #[error("{run} is {state} and asks nothing")]
    NotWaiting { run: RunId, state: StateName },
    #[error("the input is nested deeper than {JSON_DEPTH_MAX} levels")]
    TooDeep,
}

impl RunsError {
    pub fn code(&self) -> Code {
        match self {
            Self::Runtime(error) => error.code(),
            Self::NotWaiting { .. } => Code::InvalidRequest,
            Self::TooDeep => Code::TooLarge,
        }
    }
}

/// The runs of one engine, for one caller.
#[derive(Debug, Clone)]
pub struct Runs {
    runtime: Runtime,
    access: Access,
}

impl Runs {
    /// For the caller on a machine without auth.
    pub fn local(runtime: Runtime) -> Self {
        Self::of(runtime, Access::local())
    }

    /// Runs that the access does not cover do not exist.
    pub fn of(runtime: Runtime, access: Access) -> Self {
        Self { runtime, access }
    }

    pub async fn list(&self, filter: ListFilter) -> Result<RunList, RunsError> {
        let read = |wanted, before, limit| self.runtime.runs(wanted, before, limit);
        Ok(list(&self.access, filter, read).await?)
    }

    /// Answered when the run is durable.
    pub async fn start(&self, request: StartRequest) -> Result<RunDetail, RunsError> {
        let StartRequest { workflow, input, session_id } = request;
        let message = match &input {
            // What is only text is said as text.
            Value::String(text) => said(vec![Part::text(text)]),
            input => message(input)?,
        };
        let caller = self.access.caller.clone();
        let submit = Submit {
            workflow,
            input,
            caller,
            session: session_id,
            message: Some(message),
            hook: None,
        };
        let submitted = self.runtime.submit(submit).await?;
        Ok((&submitted.view).into())
    }

    pub async fn detail(&self, run: RunId) -> Result<RunDetail, RunsError> {
        let view = self.runtime.view(&self.address(run)).await?;
        let detail = RunDetail::from(&view);
        // Workflows ask no models: their logs need not be read.
        let program = self.runtime.registry().get(&detail.summary.workflow);
        if program.is_some_and(|program| program.info().kind == Kind::Workflow) {
            return Ok(detail);
        }
        let (usage, guided) = self.in_the_log(run, view.pos).await?;
        Ok(RunDetail { usage, guided, ..detail })
    }

    /// What only the whole log tells, up to a position: what the run has used, and where an outside agent
    /// stands.
    async fn in_the_log(
        &self,
        run: RunId,
        newest: Pos,
    ) -> Result<(Option<Bill>, Option<GuidedDetail>), RunsError> {
        let mut watch = self.runtime.watch(&self.address(run), 0).await?;
        let mut bill = Bill::default();
        let mut track: Option<RunTrack> = None;
        // Without the comparison the watch would wait for what has not happened yet.
        let mut seen = 0;
        while seen < newest {
            let Some(stored) = watch.next().await? else { break };
            seen = stored.pos;
            if let Some(one) = Bill::of([&stored.event]) {
                bill.add(&one);
            }
            match (&mut track, &stored.event) {
                // What does not fit is shown by what came before it.
                (Some(track), event) => drop(track.apply(event, stored.at)),
                (None, Event::Submitted(first)) if first.guided => {
                    track = Some(RunTrack::begin(first, stored.at));
                }
                (None, _) => {}
            }
        }
        let guided = track.as_ref().and_then(GuidedDetail::of);
        Ok(((bill.total.calls > 0).then_some(bill), guided))
    }

    /// The name of the run's workflow.
    pub(super) async fn workflow(&self, run: RunId) -> Result<String, RunsError> {
        Ok(self.runtime.view(&self.address(run)).await?.submission.workflow.name.clone())
    }

    /// Answers the run's question. Errors in the answer are part of a good reply: the question is put
    /// again, and that is recorded.
    pub async fn resume(&self, run: RunId, request: ResumeRequest) -> Result<Resumed, RunsError> {
        let view = self.runtime.view(&self.address(run)).await?;
        // A message to a run that asks nothing would only join its history; whoever resumes wants more.
        if !view.state.is_terminal() && view.question.is_none() && request.question_id.is_none() {
            return Err(RunsError::NotWaiting { run, state: view.state });
        }
        let deliver = Deliver {
            to: self.address(run),
            session: None::<SessionId>,
            message: message(&request.input)?,
            question: request.question_id,
            hook: None,
        };
        let answered = self.runtime.deliver(deliver).await?;
        let (answer, errors) = match answered.delivered {
            Delivered::Noted => (None, Vec::new()),
            Delivered::Answer { order, concurrent, primary, problems, question: _ } => {
                let mark = ResumeMark {
                    request_order: order,
                    concurrent_request: concurrent,
                    primary_resume: primary,
                };
                (Some(mark), problems)
            }
        };
        Ok(Resumed { run: (&answered.view).into(), answer, errors, after: answered.before })
    }

    /// The run, already canceled.
    pub async fn cancel(&self, run: RunId) -> Result<RunDetail, RunsError> {
        Ok((&self.runtime.cancel(&self.address(run)).await?).into())
    }

    /// Takes responsibility for an imported run, which goes on then.
    pub async fn adopt(&self, run: RunId) -> Result<RunDetail, RunsError> {
        Ok((&self.runtime.adopt(&self.address(run)).await?).into())
    }

    /// The new run, which shares the log of this one up to a point.
    pub async fn fork(&self, run: RunId, request: ForkRequest) -> Result<RunDetail, RunsError> {
        let ForkRequest { at, session_id } = request;
        Ok((&self.runtime.fork(&self.address(run), at, session_id).await?).into())
    }

    /// The definition that the run is pinned to, in its normal form; none where a program runs it.
    pub async fn definition(&self, run: RunId) -> Result<PinnedDefinition, RunsError> {
        let definition = self.runtime.definition(&self.address(run)).await?;
        Ok(PinnedDefinition { definition })
    }

    /// Recorded events after a position, at most a page of them. Waits for nothing.
    pub async fn events(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> Result<EventPage, RunsError> {
        let address = self.address(run);
        let newest = self.runtime.view(&address).await?.pos;
        let mut watch = self.runtime.watch(&address, after).await?;
        let mut page = EventPage { format: FORMAT_NEWEST, events: Vec::new(), next: None };
        let (limit, mut bytes) = (limit.min(PAGE_EVENTS_MAX), 0);
        let mut seen = after;
        // Without the comparison the watch would wait for what has not happened yet.
        while seen < newest {
            if page.events.len() == limit || bytes > PAGE_BYTES_MAX {
                page.next = Some(seen);
                break;
            }
            let Some(stored) = watch.next().await? else {
                break;
            };
            seen = stored.pos;
            bytes += encode(&stored.event).len();
            page.events.push(EventRecord::from(stored));
        }
        Ok(page)
    }

    /// Everything that happens to the run after a position, as it happens.
    pub async fn updates(&self, run: RunId, after: Pos) -> Result<Updates, RunsError> {
        let watch = self.runtime.watch(&self.address(run), after).await?;
        Ok(Updates { run, watch })
    }

    fn address(&self, run: RunId) -> RunAddress {
        RunAddress { run, access: self.access.clone(), workflow: None }
    }
}

/// A place in the story of a run.
#[derive(Debug)]
pub struct Updates {
    run: RunId,
    watch: Watch,
}

impl Updates {
    /// The next update. `None` when the run has ended and everything was seen, or the engine stops.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<RunUpdate>, RunsError> {
        Ok(self.next_sized().await?.map(|(update, _)| update))
    }

    /// The same, with about how many bytes it is.
    pub(super) async fn next_sized(&mut self) -> Result<Option<(RunUpdate, usize)>, RunsError> {
        while let Some(stored) = self.watch.next().await? {
            if let Some(sized) = RunUpdate::sized(self.run, &stored) {
                return Ok(Some(sized));
            }
        }
        Ok(None)
    }

    /// The update that came last, once more.
    pub(super) async fn again(&self) -> Result<Option<(RunUpdate, usize)>, RunsError> {
        let stored = self.watch.again().await?;
        Ok(stored.and_then(|stored| RunUpdate::sized(self.run, &stored)))
    }
}

/// The message that stands in the run's history for an input that came without one.
fn message(input: &Value) -> Result<Message, RunsError> {
    if is_too_deep(input) {
        return Err(RunsError::TooDeep);
    }
    Ok(said(vec![Part::data(input.clone())]))
}

fn said(parts: Vec<Part>) -> Message {
    Message::new(MessageId::made(SystemIds.uuid()), Role::User, parts)
}
