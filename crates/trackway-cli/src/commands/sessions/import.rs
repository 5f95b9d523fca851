//! `trackway sessions import`: a session that was exported elsewhere.

use std::{fs, io::Read as _};

use trackway::sessions::SessionsReader;
use trackway_domain::Code;

use crate::{args::Import, exit::Exit, failure::Failure, output, text};

/// Largest bundle that is read: the check needs several copies of it in memory.
/// Limit (CLI): bundle that is imported.
const BUNDLE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

pub(super) async fn import(args: &Import) -> Result<Exit, Failure> {
    let file = read(args)?;
    let journal = super::writer(&args.whose.data.folder)?;
    let sessions = SessionsReader::of(journal.clone(), args.whose.access());
    let done = sessions.import(&file, args.signed_by.as_ref()).await;
    journal.close().await;
    let done = done?;
    if args.whose.json {
        output::json(&done)?;
        return Ok(Exit::Done);
    }
    output::line(&text::printable(done.session_id.as_str()))?;
    output::note(&format!(
        "Imported {} runs; {} were already here. Signed by {}.",
        done.imported.len(),
        done.skipped.len(),
        done.signed_by
    ));
    Ok(Exit::Done)
}

fn read(args: &Import) -> Result<Vec<u8>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("{} cannot be read", args.file.display())).cause(&error)
    };
    let mut content = Vec::new();
    let file = fs::File::open(&args.file).map_err(unreadable)?;
    file.take(BUNDLE_BYTES_MAX + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() as u64 > BUNDLE_BYTES_MAX {
        let message = format!("{} is larger than {BUNDLE_BYTES_MAX} bytes", args.file.display());
        return Err(Failure::new(message).code(Code::TooLarge.as_str()));
    }
    Ok(content)
}
