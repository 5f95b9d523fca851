//! `trackway keys create`: makes a key and shows it once.

use trackway::{Caller, KeyFile, NewKey, Scopes};

use super::shown;
use crate::{args::CreateKey, exit::Exit, failure::Failure, output};

pub(in crate::commands) fn create(args: CreateKey) -> Result<Exit, Failure> {
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
        // The key alone is data, so that a script can take it.
        output::line(secret.expose())?;
        let id = stored.key.id();
        output::note(
            "This is the key; it is not shown again. Send it as `Authorization: Bearer KEY`.",
        );
        output::note(&format!("Its id is {id}: `trackway keys revoke {id}` ends it."));
    }
    Ok(Exit::Done)
}
