//! `trackway keys`: the keys of a data folder, with or without a running server.

use serde_json::{Value, json};
use trackway::{Caller, KeyFile, NewKey, Scopes, StoredKey};
use trackway_mcp::KeyRing;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;

use crate::{
    args::{CreateKey, ListKeys, RevokeKey, RotateKeys},
    exit::Exit,
    failure::Failure,
    output, text,
};

/// `trackway keys create`: creates a key and prints it once.
pub(super) fn create(args: CreateKey) -> Result<Exit, Failure> {
    let scopes = Scopes::new(args.scopes.iter().map(|scope| scope.as_str()))
        .map_err(|error| Failure::of(&error).exit(Exit::Usage))?;
    let caller = Caller::new(&args.tenant, &args.user);
    let file = KeyFile::in_folder(&args.data.folder);
    let (secret, stored) = file.create(NewKey { id: args.id, caller, scopes })?;
    if args.json {
        let mut key = shown(&stored);
        key["key"] = secret.expose().into();
        output::json(&key)?;
    } else {
        // Only the key goes to stdout, so that a script can read it.
        output::line(secret.expose())?;
        let id = stored.key.id();
        output::note(
            "This is the key; it is not shown again. Send it as `Authorization: Bearer KEY`.",
        );
        output::note(&format!("Its id is {id}: `trackway keys revoke {id}` ends it."));
    }
    Ok(Exit::Done)
}

/// `trackway keys list`: all keys and their scopes.
pub(super) fn list(args: &ListKeys) -> Result<Exit, Failure> {
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

/// `trackway keys revoke`: ends a key.
pub(super) fn revoke(args: &RevokeKey) -> Result<Exit, Failure> {
    let revoked = KeyFile::in_folder(&args.data.folder).revoke(&args.id)?;
    if args.json {
        output::json(&shown(&revoked))?;
    } else {
        output::line(&format!("{} revoked", revoked.key.id()))?;
    }
    Ok(Exit::Done)
}

/// `trackway keys rotate`: a new key signs the tokens of agents from here on.
pub(super) fn rotate(args: &RotateKeys) -> Result<Exit, Failure> {
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

/// A key as JSON, without its hash.
fn shown(stored: &StoredKey) -> Value {
    let (key, caller) = (&stored.key, stored.key.caller());
    json!({
        "id": key.id(),
        "tenant": caller.tenant,
        "user": caller.user,
        "scopes": key.scopes(),
        "createdAt": stored.created_at,
    })
}
