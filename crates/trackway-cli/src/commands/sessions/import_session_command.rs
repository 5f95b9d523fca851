//! `trackway sessions import`: a session that was exported elsewhere.

use std::{fs, io::Read as _};

use trackway::sessions::SessionsReader;
use trackway_domain::ErrorCode;

use crate::{
    args::ImportSessionArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

/// Largest bundle that is read: the check needs several copies of it in memory.
/// Limit (CLI): bundle that is imported.
const BUNDLE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

pub(super) async fn import_session(args: &ImportSessionArgs) -> Result<ExitStatus, CliError> {
    let file = read_bundle_file(args)?;
    let journal = super::open_journal_for_writing(&args.owner.data.folder)?;
    let sessions = SessionsReader::for_access(journal.clone(), args.owner.caller_access());
    let done = sessions.import_bundle(&file, args.signed_by.as_ref()).await;
    journal.close_store().await;
    let done = done?;
    if args.owner.json {
        output_streams::write_stdout_json_line(&done)?;
        return Ok(ExitStatus::Done);
    }
    output_streams::write_stdout_line(&text_format::replace_control_chars(done.session_id.as_str()))?;
    output_streams::print_stderr_note(&format!(
        "Imported {} runs; {} were already here. Signed by {}.",
        done.imported.len(),
        done.skipped.len(),
        done.signed_by
    ));
    Ok(ExitStatus::Done)
}

fn read_bundle_file(args: &ImportSessionArgs) -> Result<Vec<u8>, CliError> {
    let unreadable = |error: std::io::Error| {
        CliError::new(format!("{} cannot be read", args.file.display())).with_cause(&error)
    };
    let mut content = Vec::new();
    let file = fs::File::open(&args.file).map_err(unreadable)?;
    file.take(BUNDLE_BYTES_MAX + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() as u64 > BUNDLE_BYTES_MAX {
        let message = format!("{} is larger than {BUNDLE_BYTES_MAX} bytes", args.file.display());
        return Err(CliError::new(message).with_error_code(ErrorCode::TooLarge.as_str()));
    }
    Ok(content)
}
