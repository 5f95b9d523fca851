//! `trackway runs list`: lists runs.

use trackway::api::{RunListFilter, RunSummary};

use crate::{
    args::ListRunsArgs, cli_error::CliError, exit_status::ExitStatus, output, run_target::RunTarget,
    text_format,
};

pub(in crate::commands) async fn list_runs(args: ListRunsArgs) -> Result<ExitStatus, CliError> {
    let reader = RunTarget::resolve(&args.target)?.open_reader()?;
    let filter = RunListFilter {
        workflow: args.workflow,
        states: args.state,
        session: args.session,
        before: args.before,
        limit: args.limit.into(),
    };
    let page = reader.list(filter).await?;
    if args.json {
        output::write_json_line(&page)?;
        return Ok(ExitStatus::Done);
    }
    if page.runs.is_empty() {
        output::print_note("No runs.");
        return Ok(ExitStatus::Done);
    }
    let head = ["RUN", "WORKFLOW", "STATE", "CREATED"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(page.runs.iter().map(run_table_row)).collect();
    text_format::render_table(&rows).iter().try_for_each(|line| output::write_line(line))?;
    if let Some(next) = page.next {
        output::print_note(&format!("hint: there may be older ones: --before {next}"));
    }
    Ok(ExitStatus::Done)
}

fn run_table_row(run: &RunSummary) -> Vec<String> {
    let parked = if run.parked { " (parked)" } else { "" };
    vec![
        run.id.to_string(),
        run.workflow.clone(),
        format!("{}{parked}", run.state),
        text_format::format_timestamp(&run.created_at),
    ]
}
