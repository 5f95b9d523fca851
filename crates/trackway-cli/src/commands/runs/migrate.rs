//! `trackway runs migrate`: a run that an agent drives goes on by its workflow as it is written now.

use serde_json::json;
use trackway_domain::Access;

use super::guided::{Desk, refused};
use crate::{args::Migrate, exit::Exit, failure::Failure, output};

pub(in crate::commands) async fn migrate(args: Migrate) -> Result<Exit, Failure> {
    let desk = Desk::open(&args.data.folder, &args.folders, None)?;
    let migrated = desk.guide.migrate(&Access::local(), args.id).await;
    desk.close().await;
    let migrated = migrated.map_err(|error| refused(&error))?;
    if args.json {
        output::json(&json!({
            "runId": args.id,
            "from": migrated.from,
            "to": migrated.to,
            "nodes": migrated.nodes,
        }))?;
    } else if migrated.nodes.is_empty() {
        output::line(&format!("{} goes by {} already", args.id, migrated.to))?;
    } else {
        let (count, to) = (migrated.nodes.len(), migrated.to);
        let nodes = if count == 1 { "node" } else { "nodes" };
        output::line(&format!("{}: {count} {nodes} from {} to {to}", args.id, migrated.from))?;
    }
    Ok(Exit::Done)
}
