//! What an outside agent is told at a step.

use serde_json::Value;
use trackway_domain::{Block, Pending};

use crate::{
    asked, contract, facts,
    model::{Prompt, Step, StepKind, Tool},
    template::render,
    walk::{Walker, lost},
};

/// More at once help nobody; the next attempt names the rest.
/// Limit (Definitions): needs that one refused answer names.
const NEEDS_MAX: usize = 16;

/// Code of a block for names that are not set.
const MISSING: &str = "context-missing";

/// The step at which a walk has stopped, with everything filled in.
pub(super) fn pending(walker: &mut Walker<'_>, step: &Step) -> Result<Pending, Block> {
    let asked = asked::prompt(step).ok_or_else(|| lost("the place is not at a step"))?;
    let prompt = match &step.kind {
        StepKind::Tool(tool) => call(walker, tool),
        _ => text(walker, &asked),
    };
    let title = walker.look(|names| render(&step.title, names));
    let confirm = match &asked.confirm {
        Some(condition) => walker.holds(condition),
        None => Ok(false),
    };
    // What one of them lacks is asked for together with what the others lack.
    match (title, prompt, confirm) {
        (Ok(title), Ok(prompt), Ok(confirm)) => {
            let output = contract::expected(&asked);
            let facts = facts::ahead(walker);
            Ok(Pending { step: step.id.clone(), title, prompt, confirm, output, facts })
        }
        (title, prompt, confirm) => {
            let blocks = [prompt.err(), title.err(), confirm.err()];
            Err(walker.wanted_by(&step.id, together(blocks.into_iter().flatten())))
        }
    }
}

/// A prompt's text, with the fragments whose conditions hold.
pub(crate) fn text(walker: &mut Walker<'_>, prompt: &Prompt) -> Result<String, Block> {
    let mut parts = vec![walker.look(|names| render(&prompt.text, names))];
    for fragment in &prompt.fragments {
        let holds = match &fragment.when {
            Some(condition) => walker.holds(condition),
            None => Ok(true),
        };
        match holds {
            Ok(true) => parts.push(walker.look(|names| render(&fragment.text, names))),
            Ok(false) => {}
            Err(block) => parts.push(Err(block)),
        }
    }
    let (texts, blocks): (Vec<_>, Vec<_>) = parts.into_iter().partition(Result::is_ok);
    if blocks.is_empty() {
        let texts: Vec<String> = texts.into_iter().filter_map(Result::ok).collect();
        return Ok(texts.join("\n\n"));
    }
    Err(together(blocks.into_iter().filter_map(Result::err)))
}

/// One block for what several parts of a prompt lack. Only names that are not set are put together:
/// what else is wrong may be so because of them.
fn together(blocks: impl Iterator<Item = Block>) -> Block {
    let all: Option<Block> = blocks.reduce(|mut all, block| {
        if all.code == block.code && block.code == MISSING {
            let known: Vec<String> = all.needs.iter().map(|need| need.pointer.clone()).collect();
            let new = block.needs.into_iter().filter(|need| !known.contains(&need.pointer));
            all.needs.extend(new);
            all.needs.truncate(NEEDS_MAX);
        }
        all
    });
    all.unwrap_or_else(|| lost("the prompt cannot be made"))
}

fn call(walker: &mut Walker<'_>, tool: &Tool) -> Result<String, Block> {
    let arguments = Value::Object(walker.values(&tool.args)?);
    Ok(format!(
        "Call the tool `{}` with these arguments, and send what it returns in `output.result`:\n\n\
         ```json\n{arguments:#}\n```",
        tool.name
    ))
}
