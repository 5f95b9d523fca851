//! `trackway runs list`: lists runs.

use trackway::api::{ListFilter, RunSummary};

use crate::{args::List, exit::Exit, failure::Failure, output, place::Place, text};

pub(in crate::commands) async fn list(args: List) -> Result<Exit, Failure> {
    let reader = Place::find(&args.place)?.reader()?;
    let filter = ListFilter {
        workflow: args.workflow,
        states: args.state,
        session: args.session,
        before: args.before,
        limit: args.limit.into(),
    };
    let page = reader.list(filter).await?;
    if args.json {
        output::json(&page)?;
        return Ok(Exit::Done);
    }
    if page.runs.is_empty() {
        output::note("No runs.");
        return Ok(Exit::Done);
    }
    let head = ["RUN", "WORKFLOW", "STATE", "CREATED"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(page.runs.iter().map(row)).collect();
    text::table(&rows).iter().try_for_each(|line| output::line(line))?;
    if let Some(next) = page.next {
        output::note(&format!("hint: there may be older ones: --before {next}"));
    }
    Ok(Exit::Done)
}

fn row(run: &RunSummary) -> Vec<String> {
    let parked = if run.parked { " (parked)" } else { "" };
    vec![
        run.id.to_string(),
        run.workflow.clone(),
        format!("{}{parked}", run.state),
        text::moment(&run.created_at),
    ]
}
