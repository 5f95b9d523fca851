//! `trackway sessions find`: which session, run and node a token from a chat belongs to.

use serde_json::json;
use trackway::sessions::SessionGraph;
use trackway_domain::RunId;
use trackway_mcp::{KeyRing, NodePlace};
use trackway_ports::Journal as _;

use crate::{args::FindToken, exit::Exit, failure::Failure, output, place, text};

pub(super) async fn find(args: &FindToken) -> Result<Exit, Failure> {
    let folder = &args.whose.data.folder;
    let journal = place::existing(folder)?;
    let ring = KeyRing::existing(folder).map_err(|error| Failure::of(&error))?;
    let ring = ring.ok_or_else(|| Failure::new("this folder has no keys for tokens"))?;
    let NodePlace { run, node } = ring.read_state(&args.token).map_err(|error| {
        Failure::of(&error).code(error.code().as_str()).hint("a stateToken begins with st.v1.")
    })?;
    let row = journal.run(run).await.map_err(|error| Failure::of(&error))?;
    let row =
        row.filter(|row| args.whose.access().covers(&row.caller)).ok_or_else(|| unknown(run))?;
    let view = super::reader(&args.whose)?.view(&row.session).await?;
    let graph = SessionGraph::from(&view);
    let found = graph.nodes.iter().find(|it| it.run_id == run && it.id == node);
    if args.whose.json {
        output::json(
            &json!({ "sessionId": row.session, "runId": run, "nodeId": node, "node": found }),
        )?;
        return Ok(Exit::Done);
    }
    let name = match found.and_then(|node| node.number) {
        Some(number) => format!("#{number}"),
        None => node.to_string(),
    };
    let step = match found {
        Some(node) => node.title.clone().unwrap_or_else(|| "complete".to_owned()),
        None => "it cannot be read".to_owned(),
    };
    for (label, value) in [
        ("Session", row.session.to_string()),
        ("Run", run.to_string()),
        ("Node", name),
        ("Step", step),
    ] {
        output::line(&text::printable(&format!("{label:<8} {value}")))?;
    }
    Ok(Exit::Done)
}

fn unknown(run: RunId) -> Failure {
    Failure::new(format!("there is no run {run} of this user"))
        .code("unknown-run")
        .exit(Exit::Usage)
}
