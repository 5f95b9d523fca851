//! `trackway workflows show`: what an agent sees of a workflow before it starts it.

use trackway_runtime::NotKnown;

use super::{catalogue, faults};
use crate::{args::ShowWorkflow, exit::Exit, failure::Failure, output, text};

pub(super) fn show(args: &ShowWorkflow) -> Result<Exit, Failure> {
    let catalogue = catalogue(&args.library)?;
    let known = catalogue.get(&args.id).map_err(|why| refused(&args.id, why))?;
    let (mut json, page) = trackway_mcp::describe(&known, &catalogue.rules(&known.definition));
    if args.library.json {
        json["file"] = known.file.display().to_string().into();
        output::json(&json)?;
    } else {
        let page = format!("{}\nfile: {}", page.trim_end(), known.file.display());
        page.lines().try_for_each(|line| output::line(&text::printable(line)))?;
    }
    Ok(Exit::Done)
}

fn refused(id: &str, why: NotKnown) -> Failure {
    match why {
        NotKnown::Unknown { near } => {
            let failure = Failure::new(format!("there is no workflow {id:?}")).exit(Exit::Usage);
            match near.first() {
                Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
                None => failure.hint("`trackway workflows list` shows them"),
            }
        }
        NotKnown::Invalid(invalid) => {
            let file = invalid.file.display();
            let failure = Failure::new(format!("{file} is not a valid workflow")).exit(Exit::Usage);
            let lines = faults(&invalid).flat_map(|finding| finding.lines());
            lines.fold(failure, |failure, line| failure.hint(line.trim_start_matches("  hint: ")))
        }
    }
}
