//! `trackway sessions list`: which sessions there are.

use trackway::sessions::SessionSummary;

use crate::{args::ListSessions, exit::Exit, failure::Failure, output, text};

pub(super) async fn list(args: &ListSessions) -> Result<Exit, Failure> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let sessions = super::reader(&args.whose)?.list(limit).await?;
    if args.whose.json {
        output::json(&sessions)?;
        return Ok(Exit::Done);
    }
    if sessions.is_empty() {
        output::note("No sessions.");
        return Ok(Exit::Done);
    }
    let head = ["SESSION", "RUNS", "UPDATED", "WORKFLOWS"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sessions.iter().map(row)).collect();
    text::table(&rows).iter().try_for_each(|line| output::line(line))?;
    if sessions.len() == limit {
        output::note("hint: there may be more: --limit N shows them");
    }
    Ok(Exit::Done)
}

fn row(session: &SessionSummary) -> Vec<String> {
    vec![
        session.session_id.to_string(),
        session.runs.to_string(),
        text::moment(&session.updated_at),
        session.workflows.join(", "),
    ]
}
