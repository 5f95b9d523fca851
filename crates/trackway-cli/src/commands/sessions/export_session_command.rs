//! `trackway sessions export`: a session in a file.

use std::{
    io::{ErrorKind, Write as _},
    sync::Arc,
};

use serde_json::json;
use trackway::sessions::{SessionsReader, public_key_fingerprint};
use trackway_documents::pdf;
use trackway_mcp::KeyRing;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;
use trackway_sqlite::{FolderKeys, private_file_options};

use crate::{
    args::{ExportFormat, ExportSessionArgs},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams,
};

pub(super) async fn export_session(args: &ExportSessionArgs) -> Result<ExitStatus, CliError> {
    let reader = super::open_sessions_reader(&args.owner)?;
    let mut told = json!({ "sessionId": args.id, "file": args.out });
    let content = match args.format {
        ExportFormat::Bundle => build_signed_bundle(args, &reader, &mut told).await?.into_bytes(),
        ExportFormat::Markdown => reader.render_session_markdown(&args.id).await?.into_bytes(),
        ExportFormat::Pdf => {
            let page = reader.render_session_markdown(&args.id).await?;
            pdf::render_markdown_to_pdf(&format!("Session {}", args.id), &page)
                .map_err(|error| CliError::from_error(&error))?
        }
    };
    write_export_file(args, &content)?;
    if args.owner.json {
        output_streams::write_stdout_json_line(&told)?;
    } else {
        output_streams::write_stdout_line(&args.out.display().to_string())?;
        if let Some(signer) = told["signedBy"].as_str() {
            output_streams::print_stderr_note(&format!(
                "Signed by {signer}; `trackway sessions import FILE --signed-by {signer}` accepts no other signer."
            ));
        }
    }
    Ok(ExitStatus::Done)
}

/// Without `--force` it overwrites no file and follows no link. A session contains all messages, so only
/// the owner may read the file.
fn write_export_file(args: &ExportSessionArgs, content: &[u8]) -> Result<(), CliError> {
    let mut file = private_file_options();
    let file = match args.force {
        true => file.write(true).create(true).truncate(true).open(&args.out),
        false => file.write(true).create_new(true).open(&args.out),
    };
    let written = file.and_then(|mut file| file.write_all(content));
    written.map_err(|error| {
        let failure = CliError::new(format!("{} cannot be written", args.out.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => {
                failure.with_cause(&error).with_hint("choose another name, or write over it with --force")
            }
            _ => failure.with_cause(&error),
        }
    })
}

async fn build_signed_bundle(
    args: &ExportSessionArgs,
    reader: &SessionsReader,
    report: &mut serde_json::Value,
) -> Result<String, CliError> {
    let keys = Arc::new(FolderKeys::in_folder(&args.owner.data.folder));
    let ring = KeyRing::open(keys, SystemClock.now()).await.map_err(|error| CliError::from_error(&error))?;
    let signer = ring.bundle_signer();
    let public_key = signer.bundle_public_key();
    report["signedBy"] = public_key_fingerprint(&public_key).into();
    Ok(reader.export_bundle(&args.id, public_key, |bytes| signer.sign_bundle_bytes(bytes)).await?)
}
