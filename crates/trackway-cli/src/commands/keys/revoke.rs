//! `trackway keys revoke`: a key that lets nobody in any more.

use trackway::KeyFile;

use super::shown;
use crate::{args::RevokeKey, exit::Exit, failure::Failure, output};

pub(in crate::commands) fn revoke(args: &RevokeKey) -> Result<Exit, Failure> {
    let revoked = KeyFile::in_folder(&args.data.folder).revoke(&args.id)?;
    if args.json {
        output::json(&shown(&revoked))?;
    } else {
        output::line(&format!("{} revoked", revoked.key.id()))?;
    }
    Ok(Exit::Done)
}
