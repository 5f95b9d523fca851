//! `trackway sessions show`: the runs and documents of one session.

use trackway::sessions::{SessionDocument, SessionRun};

use crate::{
    args::SessionRefArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
    usage_text,
};

pub(super) async fn show_session(args: &SessionRefArgs) -> Result<ExitStatus, CliError> {
    let session = super::open_sessions_reader(&args.owner)?.load_session_detail(&args.id).await?;
    if args.owner.json {
        output_streams::write_stdout_json_line(&session)?;
        return Ok(ExitStatus::Done);
    }
    output_streams::write_stdout_line(&text_format::replace_control_chars(&format!(
        "Session {}",
        session.session_id
    )))?;
    let head = ["RUN", "WORKFLOW", "STATUS", "BRANCHES", "UPDATED"].map(str::to_owned).to_vec();
    print_table(head, session.runs.iter().map(session_run_table_row))?;
    for (run, linked) in session.runs.iter().filter_map(|run| Some((run, run.linked_session_id.as_ref()?))) {
        output_streams::write_stdout_line(&text_format::replace_control_chars(&format!(
            "{} is linked to session {linked}",
            run.run_id
        )))?;
    }
    for (run, reason) in session.runs.iter().filter_map(|run| Some((run, run.damaged.as_ref()?))) {
        output_streams::print_stderr_note(&text_format::replace_control_chars(&format!(
            "{} is damaged ({reason}); the readable part is shown",
            run.run_id
        )));
    }
    if let Some(usage) = &session.usage {
        output_streams::write_stdout_line("")?;
        output_streams::write_stdout_line(&format!(
            "Usage  {}",
            usage_text::format_usage(&usage.total.total)
        ))?;
        let agents = usage.agents.iter().map(|(name, spent)| ("agent", name, spent));
        let models = usage.total.models.iter().map(|(label, spent)| ("model", label, spent));
        for (what, name, spent) in agents.chain(models) {
            output_streams::write_stdout_line(&text_format::replace_control_chars(&format!(
                "  {what} {}",
                usage_text::format_named_usage(name, spent)
            )))?;
        }
    }
    if !session.documents.is_empty() {
        let head = ["DOCUMENT", "KIND", "RUN", "STEP"].map(str::to_owned).to_vec();
        print_table(head, session.documents.iter().map(document_table_row))?;
        output_streams::print_stderr_note(
            "hint: `trackway sessions export` writes them to a file; --json prints them",
        );
    }
    Ok(ExitStatus::Done)
}

/// A table after an empty line.
fn print_table(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Result<(), CliError> {
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    output_streams::write_stdout_line("")?;
    text_format::align_table_columns(&rows)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(line))?;
    Ok(())
}

fn session_run_table_row(run: &SessionRun) -> Vec<String> {
    let status = match run.damaged {
        Some(_) => "damaged".to_owned(),
        None => format!("{} ({})", run.status, run.state),
    };
    vec![
        run.run_id.to_string(),
        run.workflow_id.clone(),
        status,
        run.branches.to_string(),
        text_format::strip_timestamp_fraction(&run.updated_at),
    ]
}

fn document_table_row(document: &SessionDocument) -> Vec<String> {
    let kind = serde_json::to_value(document.kind).unwrap_or_default();
    vec![
        document.name.clone(),
        kind.as_str().unwrap_or_default().to_owned(),
        document.run_id.to_string(),
        document.step_id.clone().unwrap_or_default(),
    ]
}
