//! `trackway keys rotate`: a new key signs the tokens of agents from here on.

use serde_json::json;
use trackway_mcp::KeyRing;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;

use crate::{args::RotateKeys, exit::Exit, failure::Failure, output};

pub(in crate::commands) fn rotate(args: &RotateKeys) -> Result<Exit, Failure> {
    let folder = &args.data.folder;
    if !folder.is_dir() {
        return Err(Failure::new(format!("there is no folder {}", folder.display()))
            .hint("name the data folder with --data or TRACKWAY_DATA")
            .exit(Exit::Usage));
    }
    let rotated = KeyRing::rotate(folder, SystemClock.now(), args.retire_older_than)
        .map_err(|error| Failure::of(&error))?;
    if args.json {
        output::json(&json!({
            "active": rotated.active,
            "valid": rotated.valid,
            "retired": rotated.retired,
        }))?;
    } else {
        output::line(&rotated.active)?;
        output::note("This key signs tokens from now on, also in servers that are running.");
        output::note(&format!(
            "Earlier keys whose tokens stay good: {}. Retired: {}.",
            rotated.valid.len(),
            rotated.retired.len()
        ));
    }
    Ok(Exit::Done)
}
