//! `trackway runs show`: one run with all its details.

use trackway::api::{Message, RunDetail};
use trackway_domain::{ErrorCode, MessageRole};

use crate::{
    args::RunRefArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, run_screen,
    run_target::RunTarget, text_format, usage_text,
};

pub(in crate::commands) async fn show_run(args: RunRefArgs) -> Result<ExitStatus, CliError> {
    let reader = RunTarget::resolve_run_target(&args.target)?.open_run_reader()?;
    let run = reader.load_run_detail(args.id).await?;
    if args.json {
        output_streams::write_stdout_json_line(&run)?;
    } else {
        render_run_detail(&run).iter().try_for_each(|line| output_streams::write_stdout_line(line))?;
    }
    if run.damaged.is_some() {
        output_streams::print_stderr_note(
            "hint: copy the data folder away before anything else, and check the disk",
        );
        output_streams::print_stderr_note(&format!("see: docs/errors/{}.md", ErrorCode::DamagedLog));
    }
    Ok(ExitStatus::Done)
}

/// A run for a person to read.
pub(super) fn render_run_detail(run: &RunDetail) -> Vec<String> {
    let summary = &run.summary;
    let mut rows = vec![
        ("Run", summary.id.to_string()),
        ("Workflow", format!("{} (version {})", summary.workflow, summary.version)),
        ("State", summary.state.to_string()),
        ("Session", summary.session_id.to_string()),
        ("Created", text_format::strip_timestamp_fraction(&summary.created_at)),
        ("Updated", text_format::strip_timestamp_fraction(&summary.updated_at)),
        ("Input", run.input.to_string()),
    ];
    if let Some(reason) = &run.damaged {
        rows.push(("Damaged", format!("{reason}; the events before it are shown")));
    }
    if run.imported {
        rows.push(("Imported", format!("`trackway runs adopt {}` lets it go on here", summary.id)));
    }
    if let Some(guided) = &run.guided {
        rows.push(("Definition", guided.workflow_hash.clone()));
        rows.push(("Branches", guided.branches.to_string()));
        let pending = guided.pending.iter();
        rows.extend(pending.map(|it| ("Pending", format!("{} ({})", it.title, it.step))));
    }
    if let Some(omitted) = &run.omitted {
        let artifacts = omitted.artifacts.len();
        let messages = omitted.messages;
        rows.push(("Left out", format!("{messages} messages, {artifacts} artifacts: too large")));
    }
    rows.extend(run.linked_session_id.iter().map(|session| ("Linked to", session.to_string())));
    rows.extend(summary.parent_id.map(|parent| ("Parent", parent.to_string())));
    rows.extend(run.children.iter().map(|child| ("Child", child.clone())));
    if !run.output.is_null() {
        rows.push(("Output", run.output.to_string()));
    }
    if let Some(bill) = &run.usage {
        rows.push(("Usage", usage_text::format_usage(&bill.total)));
        let models = bill.models.iter();
        rows.extend(models.map(|(label, spent)| ("  model", usage_text::format_named_usage(label, spent))));
    }
    if let Some(evidence) = &run.evidence {
        rows.push(("Parked", evidence.message.clone()));
        rows.extend(evidence.asked.clone().map(|asked| ("  asked", asked)));
        rows.extend(evidence.recorded.clone().map(|recorded| ("  recorded", recorded)));
    }
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let mut lines = text_format::align_table_columns(&rows);
    if let Some(question) = &run.question {
        lines.push(String::new());
        lines.push(format!("Question {}", question.id));
        lines.extend(text_format::render_indented_parts(&question.prompt, "  "));
        lines.extend(text_format::render_validation_errors(&question.errors));
        lines.push(text_format::replace_control_chars(&format!("  schema: {}", question.schema)));
    }
    let messages: Vec<&Message> = run.history.iter().chain(&run.message).collect();
    if !messages.is_empty() {
        lines.push(String::new());
        lines.push("Messages".to_owned());
        lines.extend(messages.into_iter().flat_map(render_history_message));
    }
    if !run.artifacts.is_empty() {
        lines.push(String::new());
        lines.push("Artifacts".to_owned());
    }
    for artifact in &run.artifacts {
        lines.push(format!("  {}", run_screen::format_artifact_title(artifact, false)));
        lines.extend(text_format::render_indented_parts(&artifact.parts, "    "));
    }
    lines
}

fn render_history_message(message: &Message) -> Vec<String> {
    let who = match message.role {
        MessageRole::User => "  user   ",
        MessageRole::Agent => "  agent  ",
    };
    text_format::render_indented_parts(&message.parts, who)
}
