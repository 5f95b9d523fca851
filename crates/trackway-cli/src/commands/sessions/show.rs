//! `trackway sessions show`: the runs and documents of one session.

use trackway::sessions::{SessionDocument, SessionRun};

use crate::{args::OneSession, exit::Exit, failure::Failure, output, text, usage};

pub(super) async fn show(args: &OneSession) -> Result<Exit, Failure> {
    let session = super::reader(&args.whose)?.show(&args.id).await?;
    if args.whose.json {
        output::json(&session)?;
        return Ok(Exit::Done);
    }
    output::line(&text::printable(&format!("Session {}", session.session_id)))?;
    let head = ["RUN", "WORKFLOW", "STATUS", "BRANCHES", "UPDATED"].map(str::to_owned).to_vec();
    print(head, session.runs.iter().map(run))?;
    for (run, reason) in session.runs.iter().filter_map(|run| Some((run, run.damaged.as_ref()?))) {
        output::note(&text::printable(&format!(
            "{} is damaged ({reason}); the readable part is shown",
            run.run_id
        )));
    }
    if let Some(usage) = &session.usage {
        output::line("")?;
        output::line(&format!("Usage  {}", usage::line(&usage.total.total)))?;
        let agents = usage.agents.iter().map(|(name, spent)| ("agent", name, spent));
        let models = usage.total.models.iter().map(|(label, spent)| ("model", label, spent));
        for (what, name, spent) in agents.chain(models) {
            output::line(&text::printable(&format!("  {what} {}", usage::named(name, spent))))?;
        }
    }
    if !session.documents.is_empty() {
        let head = ["DOCUMENT", "KIND", "RUN", "STEP"].map(str::to_owned).to_vec();
        print(head, session.documents.iter().map(document))?;
        output::note("hint: `trackway sessions export` writes them to a file; --json prints them");
    }
    Ok(Exit::Done)
}

/// A table after an empty line.
fn print(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    output::line("")?;
    text::table(&rows).iter().try_for_each(|line| output::line(line))?;
    Ok(())
}

fn run(run: &SessionRun) -> Vec<String> {
    let status = match run.damaged {
        Some(_) => "damaged".to_owned(),
        None => format!("{} ({})", run.status, run.state),
    };
    vec![
        run.run_id.to_string(),
        run.workflow_id.clone(),
        status,
        run.branches.to_string(),
        text::moment(&run.updated_at),
    ]
}

fn document(document: &SessionDocument) -> Vec<String> {
    let kind = serde_json::to_value(document.kind).unwrap_or_default();
    vec![
        document.name.clone(),
        kind.as_str().unwrap_or_default().to_owned(),
        document.run_id.to_string(),
        document.step_id.clone().unwrap_or_default(),
    ]
}
