//! `trackway config show`: every setting as it is in effect, and where it came from.

use serde_json::json;

use crate::{
    args::ShowConfig,
    config,
    exit::Exit,
    failure::Failure,
    finding, output, text,
    workspace::{Workspace, shown},
};

pub(super) fn show(args: &ShowConfig) -> Result<Exit, Failure> {
    let folder = config::folder(args.workspace.as_deref())?;
    let (workspace, findings) = Workspace::read(folder, &config::variable);
    if let Some(refusal) = finding::refusal(&findings) {
        return Err(refusal.into());
    }
    let settings = shown::settings(&workspace);
    if args.json {
        output::json(&json!({ "settings": settings }))?;
        return Ok(Exit::Done);
    }
    let lines = settings.iter().map(|setting| {
        vec![format!("{} = {}", setting.key, setting.value), format!("# {}", setting.from)]
    });
    let lines = text::table(&lines.collect::<Vec<_>>());
    lines.iter().try_for_each(|line| output::line(&text::printable(line)))?;
    Ok(Exit::Done)
}
