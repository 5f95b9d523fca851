//! `trackway sessions export`: a session in a file.

use std::io::{ErrorKind, Write as _};

use serde_json::json;
use trackway::sessions::{SessionsReader, fingerprint};
use trackway_documents::pdf;
use trackway_mcp::KeyRing;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;
use trackway_sqlite::private_file;

use crate::{
    args::{Export, ExportFormat},
    exit::Exit,
    failure::Failure,
    output,
};

pub(super) async fn export(args: &Export) -> Result<Exit, Failure> {
    let reader = super::reader(&args.whose)?;
    let mut told = json!({ "sessionId": args.id, "file": args.out });
    let content = match args.format {
        ExportFormat::Bundle => bundle(args, &reader, &mut told).await?.into_bytes(),
        ExportFormat::Markdown => reader.markdown(&args.id).await?.into_bytes(),
        ExportFormat::Pdf => {
            let page = reader.markdown(&args.id).await?;
            pdf::from_markdown(&format!("Session {}", args.id), &page)
                .map_err(|error| Failure::of(&error))?
        }
    };
    write(args, &content)?;
    if args.whose.json {
        output::json(&told)?;
    } else {
        output::line(&args.out.display().to_string())?;
        if let Some(signer) = told["signedBy"].as_str() {
            output::note(&format!(
                "Signed by {signer}; `trackway sessions import FILE --signed-by {signer}` accepts no other signer."
            ));
        }
    }
    Ok(Exit::Done)
}

/// Without `--force` it overwrites no file and follows no link. A session contains all messages, so only
/// the owner may read the file.
fn write(args: &Export, content: &[u8]) -> Result<(), Failure> {
    let mut file = private_file();
    let file = match args.force {
        true => file.write(true).create(true).truncate(true).open(&args.out),
        false => file.write(true).create_new(true).open(&args.out),
    };
    let written = file.and_then(|mut file| file.write_all(content));
    written.map_err(|error| {
        let failure = Failure::new(format!("{} cannot be written", args.out.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => {
                failure.cause(&error).hint("choose another name, or write over it with --force")
            }
            _ => failure.cause(&error),
        }
    })
}

async fn bundle(
    args: &Export,
    reader: &SessionsReader,
    told: &mut serde_json::Value,
) -> Result<String, Failure> {
    let ring = KeyRing::open(&args.whose.data.folder, SystemClock.now())
        .map_err(|error| Failure::of(&error))?;
    let signer = ring.bundle_signer();
    let public_key = signer.public_key();
    told["signedBy"] = fingerprint(&public_key).into();
    Ok(reader.bundle(&args.id, public_key, |bytes| signer.sign(bytes)).await?)
}
