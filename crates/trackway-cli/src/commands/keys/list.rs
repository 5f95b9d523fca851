//! `trackway keys list`: which keys there are, and what each may do.

use serde_json::json;
use trackway::{KeyFile, StoredKey};

use super::shown;
use crate::{args::ListKeys, exit::Exit, failure::Failure, output, text};

pub(in crate::commands) fn list(args: &ListKeys) -> Result<Exit, Failure> {
    let keys = KeyFile::in_folder(&args.data.folder).read()?;
    if args.json {
        output::json(&json!({ "keys": keys.iter().map(shown).collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    if keys.is_empty() {
        output::note("No keys.");
        return Ok(Exit::Done);
    }
    let head = ["ID", "TENANT", "USER", "CREATED", "SCOPES"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(keys.iter().map(row)).collect();
    text::table(&rows).iter().try_for_each(|line| output::line(line))?;
    Ok(Exit::Done)
}

fn row(stored: &StoredKey) -> Vec<String> {
    let (key, caller) = (&stored.key, stored.key.caller());
    let scopes: Vec<&str> = key.scopes().iter().map(|scope| scope.as_str()).collect();
    vec![
        key.id().to_owned(),
        caller.tenant.to_string(),
        caller.user.to_string(),
        text::moment(&stored.created_at),
        scopes.join(" "),
    ]
}
