//! `trackway runs replay-check`: checks whether this binary's programs could continue the runs.
//!
//! Use it before a deployment: the new binary reads the logs from the running server, replays each
//! against its own program and does nothing else.

use std::sync::Arc;

use serde::Serialize;
use trackway::{
    AgentSet,
    api::{EventRecord, RunListFilter},
};
use trackway_domain::{ErrorCode, Event, ReplayMismatch, RunId, StateName, WorkflowRef};
use trackway_runtime::{ProgramRegistry, ReplayVerdict, Tools, replay_with_registered_program};

use crate::{
    args::ReplayCheckArgs,
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams, programs,
    run_target::{RunReader, RunTarget},
    text_format,
};

/// Runs in one page of the listing.
const PAGE_RUNS: usize = 500;

#[derive(Debug, Serialize)]
struct ReplayReport {
    checked: usize,
    misfits: usize,
    runs: Vec<ReplayCheckedRun>,
}

#[derive(Debug, Serialize)]
struct ReplayCheckedRun {
    id: RunId,
    workflow: String,
    version: String,
    verdict: ReplayCheckVerdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<ReplayMismatch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ReplayCheckVerdict {
    Fits,
    Misfit,
}

pub(in crate::commands) async fn check_replays(args: ReplayCheckArgs) -> Result<ExitStatus, CliError> {
    // The store has the specs of agents, with their turns.
    let server = programs::bundled_server(&args.target.data.folder).agents(AgentSet::default());
    let registry = server.workflow_registry().map_err(|error| CliError::from_error(&error))?;
    let tools = Arc::new(server.step_tools().map_err(|error| CliError::from_error(&error))?);
    let reader = RunTarget::resolve_run_target(&args.target)?.open_run_reader()?;
    let ids = if args.ids.is_empty() { list_unfinished_runs(&reader).await? } else { args.ids };
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        runs.push(match reader.load_run_log(id).await {
            Ok(log) => {
                register_pinned_definition(&registry, &tools, &reader, &log).await?;
                replay_check_run(&registry, id, log).await
            }
            // One unreadable log must not hide problems of the others.
            Err(failure) if failure.code.as_deref() == Some(ErrorCode::DamagedLog.as_str()) => {
                damaged_run_result(id, &failure)
            }
            Err(failure) => return Err(failure),
        });
    }
    let misfits = runs.iter().filter(|run| run.verdict == ReplayCheckVerdict::Misfit).count();
    let report = ReplayReport { checked: runs.len(), misfits, runs };
    if args.json {
        output_streams::write_stdout_json_line(&report)?;
    } else {
        render_replay_report(&report).iter().try_for_each(|line| output_streams::write_stdout_line(line))?;
    }
    if misfits > 0 {
        output_streams::print_stderr_note(&format!("see: docs/errors/{}.md", ErrorCode::ReplayMismatch));
        return Ok(ExitStatus::ReplayMismatch);
    }
    Ok(ExitStatus::Done)
}

async fn list_unfinished_runs(reader: &RunReader) -> Result<Vec<RunId>, CliError> {
    let states = StateName::ALL.into_iter().filter(|state| !state.is_terminal()).collect();
    let mut filter = RunListFilter { workflow: None, states, session: None, before: None, limit: PAGE_RUNS };
    let mut ids = Vec::new();
    loop {
        let page = reader.list_runs(filter.clone()).await?;
        ids.extend(page.runs.iter().map(|run| run.id));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => return Ok(ids),
        }
    }
}

/// Registers the definition that a run is pinned to, if the run does not belong to a program of
/// this binary.
async fn register_pinned_definition(
    registry: &ProgramRegistry,
    tools: &Arc<Tools>,
    reader: &RunReader,
    log: &[EventRecord],
) -> Result<(), CliError> {
    let Some(Event::Submitted(submission)) = log.first().map(|record| &record.event) else {
        return Ok(());
    };
    let workflow = &submission.workflow;
    if registry.find_program_version(workflow).is_none()
        && let Some(body) = reader.load_pinned_definition(submission.run, &workflow.version).await?
    {
        registry.register_pinned_program(workflow, &body, tools);
    }
    Ok(())
}

async fn replay_check_run(registry: &ProgramRegistry, id: RunId, log: Vec<EventRecord>) -> ReplayCheckedRun {
    let log: Vec<Event> = log.into_iter().map(|record| record.event).collect();
    let workflow = match log.first() {
        Some(Event::Submitted(submission)) => submission.workflow.clone(),
        _ => WorkflowRef { name: "?".to_owned(), version: "?".to_owned() },
    };
    let evidence = match replay_with_registered_program(registry, &log).await {
        ReplayVerdict::Matches => None,
        ReplayVerdict::Nondeterminism(evidence) => Some(evidence),
    };
    let verdict = if evidence.is_none() { ReplayCheckVerdict::Fits } else { ReplayCheckVerdict::Misfit };
    ReplayCheckedRun { id, workflow: workflow.name, version: workflow.version, verdict, evidence }
}

fn damaged_run_result(id: RunId, failure: &CliError) -> ReplayCheckedRun {
    let unknown = || "?".to_owned();
    let evidence = Some(mismatch_from_message(failure.error_message()));
    ReplayCheckedRun {
        id,
        workflow: unknown(),
        version: unknown(),
        verdict: ReplayCheckVerdict::Misfit,
        evidence,
    }
}

fn mismatch_from_message(message: &str) -> ReplayMismatch {
    ReplayMismatch { message: message.to_owned(), asked: None, recorded: None }
}

fn render_replay_report(report: &ReplayReport) -> Vec<String> {
    let head = ["RUN", "WORKFLOW", "VERDICT"].map(str::to_owned).to_vec();
    let row = |run: &ReplayCheckedRun| {
        let verdict = match (run.verdict, &run.evidence) {
            (ReplayCheckVerdict::Fits, _) => "fits".to_owned(),
            (ReplayCheckVerdict::Misfit, Some(evidence)) => format!("misfit: {}", evidence.message),
            (ReplayCheckVerdict::Misfit, None) => "misfit".to_owned(),
        };
        vec![run.id.to_string(), format!("{} (version {})", run.workflow, run.version), verdict]
    };
    let mut lines = Vec::new();
    if !report.runs.is_empty() {
        let rows: Vec<_> = std::iter::once(head).chain(report.runs.iter().map(row)).collect();
        lines.extend(text_format::align_table_columns(&rows));
    }
    lines.push(format!("{} checked, {} misfit", report.checked, report.misfits));
    lines
}
