//! `trackway runs replay-check`: checks whether this binary's programs could continue the runs.
//!
//! Use it before a deployment: the new binary reads the logs from the running server, replays each
//! against its own program and does nothing else.

use std::sync::Arc;

use serde::Serialize;
use trackway::{
    Agents,
    api::{EventRecord, ListFilter},
};
use trackway_domain::{Code, Event, Evidence, RunId, StateName, WorkflowRef};
use trackway_runtime::{Registry, ReplayVerdict, Tools, replay_with};

use crate::{
    args::ReplayCheck,
    exit::Exit,
    failure::Failure,
    output,
    place::{Place, Reader},
    programs, text,
};

/// Runs in one page of the listing.
const PAGE_RUNS: usize = 500;

#[derive(Debug, Serialize)]
struct Report {
    checked: usize,
    misfits: usize,
    runs: Vec<Checked>,
}

#[derive(Debug, Serialize)]
struct Checked {
    id: RunId,
    workflow: String,
    version: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Fits,
    Misfit,
}

pub(in crate::commands) async fn replay_check(args: ReplayCheck) -> Result<Exit, Failure> {
    // The store has the specs of agents, with their turns.
    let server = programs::bundled(&args.place.data.folder).agents(Agents::default());
    let registry = server.registry().map_err(|error| Failure::of(&error))?;
    let tools = Arc::new(server.tools().map_err(|error| Failure::of(&error))?);
    let reader = Place::find(&args.place)?.reader()?;
    let ids = if args.ids.is_empty() { unfinished(&reader).await? } else { args.ids };
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        runs.push(match reader.log(id).await {
            Ok(log) => {
                learn(&registry, &tools, &reader, &log).await?;
                check(&registry, id, log).await
            }
            // One unreadable log must not hide problems of the others.
            Err(failure) if failure.code.as_deref() == Some(Code::DamagedLog.as_str()) => {
                damaged(id, &failure)
            }
            Err(failure) => return Err(failure),
        });
    }
    let misfits = runs.iter().filter(|run| run.verdict == Verdict::Misfit).count();
    let report = Report { checked: runs.len(), misfits, runs };
    if args.json {
        output::json(&report)?;
    } else {
        page(&report).iter().try_for_each(|line| output::line(line))?;
    }
    if misfits > 0 {
        output::note(&format!("see: docs/errors/{}.md", Code::ReplayMismatch));
        return Ok(Exit::Misfit);
    }
    Ok(Exit::Done)
}

async fn unfinished(reader: &Reader) -> Result<Vec<RunId>, Failure> {
    let states = StateName::ALL.into_iter().filter(|state| !state.is_terminal()).collect();
    let mut filter =
        ListFilter { workflow: None, states, session: None, before: None, limit: PAGE_RUNS };
    let mut ids = Vec::new();
    loop {
        let page = reader.list(filter.clone()).await?;
        ids.extend(page.runs.iter().map(|run| run.id));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => return Ok(ids),
        }
    }
}

/// Registers the definition that a run is pinned to, if the run does not belong to a program of
/// this binary.
async fn learn(
    registry: &Registry,
    tools: &Arc<Tools>,
    reader: &Reader,
    log: &[EventRecord],
) -> Result<(), Failure> {
    let Some(Event::Submitted(submission)) = log.first().map(|record| &record.event) else {
        return Ok(());
    };
    let workflow = &submission.workflow;
    if registry.pinned(workflow).is_none()
        && let Some(body) = reader.definition(submission.run, &workflow.version).await?
    {
        registry.keep_pinned(workflow, &body, tools);
    }
    Ok(())
}

async fn check(registry: &Registry, id: RunId, log: Vec<EventRecord>) -> Checked {
    let log: Vec<Event> = log.into_iter().map(|record| record.event).collect();
    let workflow = match log.first() {
        Some(Event::Submitted(submission)) => submission.workflow.clone(),
        _ => WorkflowRef { name: "?".to_owned(), version: "?".to_owned() },
    };
    let evidence = match replay_with(registry, &log).await {
        ReplayVerdict::Fits => None,
        ReplayVerdict::Misfit(evidence) => Some(evidence),
    };
    let verdict = if evidence.is_none() { Verdict::Fits } else { Verdict::Misfit };
    Checked { id, workflow: workflow.name, version: workflow.version, verdict, evidence }
}

fn damaged(id: RunId, failure: &Failure) -> Checked {
    let unknown = || "?".to_owned();
    let evidence = Some(plain(failure.message()));
    Checked { id, workflow: unknown(), version: unknown(), verdict: Verdict::Misfit, evidence }
}

fn plain(message: &str) -> Evidence {
    Evidence { message: message.to_owned(), asked: None, recorded: None }
}

fn page(report: &Report) -> Vec<String> {
    let head = ["RUN", "WORKFLOW", "VERDICT"].map(str::to_owned).to_vec();
    let row = |run: &Checked| {
        let verdict = match (run.verdict, &run.evidence) {
            (Verdict::Fits, _) => "fits".to_owned(),
            (Verdict::Misfit, Some(evidence)) => format!("misfit: {}", evidence.message),
            (Verdict::Misfit, None) => "misfit".to_owned(),
        };
        vec![run.id.to_string(), format!("{} (version {})", run.workflow, run.version), verdict]
    };
    let mut lines = Vec::new();
    if !report.runs.is_empty() {
        let rows: Vec<_> = std::iter::once(head).chain(report.runs.iter().map(row)).collect();
        lines.extend(text::table(&rows));
    }
    lines.push(format!("{} checked, {} misfit", report.checked, report.misfits));
    lines
}
