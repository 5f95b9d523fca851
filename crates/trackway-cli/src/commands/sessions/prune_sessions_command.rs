//! `trackway sessions prune`: removes old finished sessions.

use std::sync::Arc;

use serde_json::json;
use trackway::sessions;
use trackway_ports::{Clock as _, Journal};
use trackway_runtime::SystemClock;

use crate::{
    args::PruneSessionsArgs, cli_error::CliError, config::WorkspaceConfig, exit_status::ExitStatus,
    output_streams, run_target, text_format,
};

pub(super) async fn prune_sessions(args: &PruneSessionsArgs) -> Result<ExitStatus, CliError> {
    let older_than = match args.older_than {
        Some(span) => span,
        None => WorkspaceConfig::load_config(args.workspace.as_deref())?.retention.older_than.ok_or_else(
            || {
                CliError::new("trackway.toml keeps every session: [retention] is switched off")
                    .with_hint("say how old they must be: --older-than 60d")
                    .with_exit_status(ExitStatus::Usage)
            },
        )?,
    };
    // A mistyped folder is not created.
    let existing = run_target::open_existing_store(&args.data.folder)?;
    let journal: Arc<dyn Journal> =
        if args.dry_run { Arc::new(existing) } else { super::open_journal_for_writing(&args.data.folder)? };
    let prune = sessions::PruneRequest { now: SystemClock.now(), older_than, dry_run: args.dry_run };
    let removed = prune.prune_sessions(&journal).await;
    journal.close_store().await;
    let removed = removed?;
    if args.json {
        output_streams::write_stdout_json_line(&json!({ "dryRun": args.dry_run, "sessions": removed }))?;
        return Ok(ExitStatus::Done);
    }
    for session in &removed {
        output_streams::write_stdout_line(&text_format::replace_control_chars(session.session_id.as_str()))?;
    }
    let done = if args.dry_run { "would be removed" } else { "removed" };
    output_streams::print_stderr_note(&format!("{} sessions {done}.", removed.len()));
    Ok(ExitStatus::Done)
}
