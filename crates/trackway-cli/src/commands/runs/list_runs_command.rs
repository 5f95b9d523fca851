//! `trackway runs list`: lists runs.

use trackway::api::{RunListFilter, RunSummary};

use crate::{
    args::ListRunsArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, run_target::RunTarget,
    text_format,
};

pub(in crate::commands) async fn list_runs(args: ListRunsArgs) -> Result<ExitStatus, CliError> {
    let reader = RunTarget::resolve_run_target(&args.target)?.open_run_reader()?;
    let filter = RunListFilter {
        workflow: args.workflow,
        states: args.state,
        session: args.session,
        before: args.before,
        limit: args.limit.into(),
    };
    let page = reader.list_runs(filter).await?;
    if args.json {
        output_streams::write_stdout_json_line(&page)?;
        return Ok(ExitStatus::Done);
    }
    if page.runs.is_empty() {
        output_streams::print_stderr_note("No runs.");
        return Ok(ExitStatus::Done);
    }
    let head = ["RUN", "WORKFLOW", "STATE", "CREATED"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(page.runs.iter().map(run_table_row)).collect();
    text_format::align_table_columns(&rows)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(line))?;
    if let Some(next) = page.next {
        output_streams::print_stderr_note(&format!("hint: there may be older ones: --before {next}"));
    }
    Ok(ExitStatus::Done)
}

fn run_table_row(run: &RunSummary) -> Vec<String> {
    let parked = if run.parked { " (parked)" } else { "" };
    vec![
        run.id.to_string(),
        run.workflow.clone(),
        format!("{}{parked}", run.state),
        text_format::strip_timestamp_fraction(&run.created_at),
    ]
}
