//! `trackway sessions notes`: the notes on a session itself.

use serde_json::json;

use crate::{args::OneSession, exit::Exit, failure::Failure, output, text};

pub(super) async fn notes(args: &OneSession) -> Result<Exit, Failure> {
    let reader = super::reader(&args.whose)?;
    if args.whose.json {
        let view = reader.view(&args.id).await?;
        let notes: Vec<_> = view
            .notes()
            .iter()
            .map(|note| json!({ "at": note.at.to_string(), "markdown": note.markdown }))
            .collect();
        output::json(&notes)?;
        return Ok(Exit::Done);
    }
    let page = reader.notes(&args.id).await?;
    if page.is_empty() {
        output::note("No notes on this session.");
    } else {
        output::line(text::printable(&page).trim_end())?;
    }
    Ok(Exit::Done)
}
