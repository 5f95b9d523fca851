//! `trackway keys`: the keys of a data folder, with or without a running server.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use trackway::{ApiKeys, Caller, NewKey, Scopes, StoredKey};
use trackway_mcp::KeyRing;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;
use trackway_sqlite::FolderKeys;

use crate::{
    args::{CreateKeyArgs, ListKeysArgs, RevokeKeyArgs, RotateKeysArgs},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams, text_format,
};

/// `trackway keys create`: creates a key and prints it once.
pub(super) async fn create_key(args: CreateKeyArgs) -> Result<ExitStatus, CliError> {
    let scopes = Scopes::new(args.scopes.iter().map(|scope| scope.as_str()))
        .map_err(|error| CliError::from_error(&error).with_exit_status(ExitStatus::Usage))?;
    let caller = Caller::new(&args.tenant, &args.user);
    let keys = api_keys(&args.data.folder);
    let (secret, stored) = keys.create(NewKey { id: args.id, caller, scopes }).await?;
    if args.json {
        let mut key = api_key_to_json(&stored);
        key["key"] = secret.expose_secret().into();
        output_streams::write_stdout_json_line(&key)?;
    } else {
        // Only the key goes to stdout, so that a script can read it.
        output_streams::write_stdout_line(secret.expose_secret())?;
        let id = stored.key.key_id();
        output_streams::print_stderr_note(
            "This is the key; it is not shown again. Send it as `Authorization: Bearer KEY`.",
        );
        output_streams::print_stderr_note(&format!("Its id is {id}: `trackway keys revoke {id}` ends it."));
    }
    Ok(ExitStatus::Done)
}

fn api_keys(folder: &Path) -> ApiKeys {
    ApiKeys::in_store(Arc::new(FolderKeys::in_folder(folder)))
}

/// `trackway keys list`: all keys and their scopes.
pub(super) async fn list_keys(args: &ListKeysArgs) -> Result<ExitStatus, CliError> {
    let keys = api_keys(&args.data.folder).load().await?;
    if args.json {
        output_streams::write_stdout_json_line(
            &json!({ "keys": keys.iter().map(api_key_to_json).collect::<Vec<_>>() }),
        )?;
        return Ok(ExitStatus::Done);
    }
    if keys.is_empty() {
        output_streams::print_stderr_note("No keys.");
        return Ok(ExitStatus::Done);
    }
    let head = ["ID", "TENANT", "USER", "CREATED", "SCOPES"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(keys.iter().map(api_key_table_row)).collect();
    text_format::align_table_columns(&rows)
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(line))?;
    Ok(ExitStatus::Done)
}

fn api_key_table_row(stored: &StoredKey) -> Vec<String> {
    let (key, caller) = (&stored.key, stored.key.caller());
    let scopes: Vec<&str> = key.scopes().iter().map(|scope| scope.as_str()).collect();
    vec![
        key.key_id().to_owned(),
        caller.tenant.to_string(),
        caller.user.to_string(),
        text_format::strip_timestamp_fraction(&stored.created_at),
        scopes.join(" "),
    ]
}

/// `trackway keys revoke`: ends a key.
pub(super) async fn revoke_key(args: &RevokeKeyArgs) -> Result<ExitStatus, CliError> {
    let revoked = api_keys(&args.data.folder).revoke(&args.id).await?;
    if args.json {
        output_streams::write_stdout_json_line(&api_key_to_json(&revoked))?;
    } else {
        output_streams::write_stdout_line(&format!("{} revoked", revoked.key.key_id()))?;
    }
    Ok(ExitStatus::Done)
}

/// `trackway keys rotate`: a new key signs the tokens of agents from here on.
pub(super) async fn rotate_token_keys(args: &RotateKeysArgs) -> Result<ExitStatus, CliError> {
    let folder = &args.data.folder;
    if !folder.is_dir() {
        return Err(CliError::new(format!("there is no folder {}", folder.display()))
            .with_hint("name the data folder with --data or TRACKWAY_DATA")
            .with_exit_status(ExitStatus::Usage));
    }
    let keys = Arc::new(FolderKeys::in_folder(folder));
    let rotated = KeyRing::rotate(keys, SystemClock.now(), args.retire_older_than)
        .await
        .map_err(|error| CliError::from_error(&error))?;
    if args.json {
        output_streams::write_stdout_json_line(&json!({
            "active": rotated.active,
            "valid": rotated.valid,
            "retired": rotated.retired,
        }))?;
    } else {
        output_streams::write_stdout_line(&rotated.active)?;
        output_streams::print_stderr_note(
            "This key signs tokens from now on, also in servers that are running.",
        );
        output_streams::print_stderr_note(&format!(
            "Earlier keys whose tokens stay good: {}. Retired: {}.",
            rotated.valid.len(),
            rotated.retired.len()
        ));
    }
    Ok(ExitStatus::Done)
}

/// A key as JSON, without its hash.
fn api_key_to_json(stored: &StoredKey) -> Value {
    let (key, caller) = (&stored.key, stored.key.caller());
    json!({
        "id": key.key_id(),
        "tenant": caller.tenant,
        "user": caller.user,
        "scopes": key.scopes(),
        "createdAt": stored.created_at,
    })
}
