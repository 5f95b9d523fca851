//! `trackway runs show`: one run with all its details.

use trackway::api::{Message, RunDetail};
use trackway_domain::{Code, Role};

use crate::{
    args::OneRun, exit::Exit, failure::Failure, output, place::Place, screen, text, usage,
};

pub(in crate::commands) async fn show(args: OneRun) -> Result<Exit, Failure> {
    let reader = Place::find(&args.place)?.reader()?;
    let run = reader.detail(args.id).await?;
    if args.json {
        output::json(&run)?;
    } else {
        page(&run).iter().try_for_each(|line| output::line(line))?;
    }
    if run.damaged.is_some() {
        output::note("hint: copy the data folder away before anything else, and check the disk");
        output::note(&format!("see: docs/errors/{}.md", Code::DamagedLog));
    }
    Ok(Exit::Done)
}

/// A run for a person to read.
pub(super) fn page(run: &RunDetail) -> Vec<String> {
    let summary = &run.summary;
    let mut rows = vec![
        ("Run", summary.id.to_string()),
        ("Workflow", format!("{} (version {})", summary.workflow, summary.version)),
        ("State", summary.state.to_string()),
        ("Session", summary.session_id.to_string()),
        ("Created", text::moment(&summary.created_at)),
        ("Updated", text::moment(&summary.updated_at)),
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
    rows.extend(summary.parent_id.map(|parent| ("Parent", parent.to_string())));
    rows.extend(run.children.iter().map(|child| ("Child", child.clone())));
    if !run.output.is_null() {
        rows.push(("Output", run.output.to_string()));
    }
    if let Some(bill) = &run.usage {
        rows.push(("Usage", usage::line(&bill.total)));
        let models = bill.models.iter();
        rows.extend(models.map(|(label, spent)| ("  model", usage::named(label, spent))));
    }
    if let Some(evidence) = &run.evidence {
        rows.push(("Parked", evidence.message.clone()));
        rows.extend(evidence.asked.clone().map(|asked| ("  asked", asked)));
        rows.extend(evidence.recorded.clone().map(|recorded| ("  recorded", recorded)));
    }
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let mut lines = text::table(&rows);
    if let Some(question) = &run.question {
        lines.push(String::new());
        lines.push(format!("Question {}", question.id));
        lines.extend(text::parts(&question.prompt, "  "));
        lines.extend(text::problems(&question.errors));
        lines.push(text::printable(&format!("  schema: {}", question.schema)));
    }
    let messages: Vec<&Message> = run.history.iter().chain(&run.message).collect();
    if !messages.is_empty() {
        lines.push(String::new());
        lines.push("Messages".to_owned());
        lines.extend(messages.into_iter().flat_map(message));
    }
    if !run.artifacts.is_empty() {
        lines.push(String::new());
        lines.push("Artifacts".to_owned());
    }
    for artifact in &run.artifacts {
        lines.push(format!("  {}", screen::title(artifact, false)));
        lines.extend(text::parts(&artifact.parts, "    "));
    }
    lines
}

fn message(message: &Message) -> Vec<String> {
    let who = match message.role {
        Role::User => "  user   ",
        Role::Agent => "  agent  ",
    };
    text::parts(&message.parts, who)
}
