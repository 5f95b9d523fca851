//! `trackway sessions prune`: removes old finished sessions.

use std::sync::Arc;

use serde_json::json;
use trackway::sessions;
use trackway_ports::{Clock as _, Journal};
use trackway_runtime::SystemClock;

use crate::{args::Prune, config::Config, exit::Exit, failure::Failure, output, place, text};

pub(super) async fn prune(args: &Prune) -> Result<Exit, Failure> {
    let older_than = match args.older_than {
        Some(span) => span,
        None => Config::load(args.workspace.as_deref())?.retention.older_than.ok_or_else(|| {
            Failure::new("trackway.toml keeps every session: [retention] is switched off")
                .hint("say how old they must be: --older-than 60d")
                .exit(Exit::Usage)
        })?,
    };
    // A mistyped folder is not created.
    let existing = place::existing(&args.data.folder)?;
    let journal: Arc<dyn Journal> =
        if args.dry_run { Arc::new(existing) } else { super::writer(&args.data.folder)? };
    let prune = sessions::Prune { now: SystemClock.now(), older_than, dry_run: args.dry_run };
    let removed = prune.run(&journal).await;
    journal.close().await;
    let removed = removed?;
    if args.json {
        output::json(&json!({ "dryRun": args.dry_run, "sessions": removed }))?;
        return Ok(Exit::Done);
    }
    for session in &removed {
        output::line(&text::printable(session.session_id.as_str()))?;
    }
    let done = if args.dry_run { "would be removed" } else { "removed" };
    output::note(&format!("{} sessions {done}.", removed.len()));
    Ok(Exit::Done)
}
