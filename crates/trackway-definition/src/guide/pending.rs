//! What an outside agent is told at a step.

use serde_json::Value;
use trackway_domain::{Block, Pending};

use crate::{
    asked, contract,
    model::{Prompt, Step, StepKind, Tool},
    template::render,
    walk::{Walker, lost},
};

/// The step at which a walk has stopped, with everything filled in.
pub(super) fn pending(walker: &mut Walker<'_>, step: &Step) -> Result<Pending, Block> {
    let asked = asked::prompt(step).ok_or_else(|| lost("the place is not at a step"))?;
    let prompt = match &step.kind {
        StepKind::Tool(tool) => call(walker, tool)?,
        _ => text(walker, &asked)?,
    };
    let confirm = match &asked.confirm {
        Some(condition) => walker.holds(condition)?,
        None => false,
    };
    Ok(Pending {
        step: step.id.clone(),
        title: walker.look(|names| render(&step.title, names))?,
        prompt,
        confirm,
        output: contract::expected(&asked),
    })
}

/// A prompt's text, with the fragments whose conditions hold.
pub(crate) fn text(walker: &mut Walker<'_>, prompt: &Prompt) -> Result<String, Block> {
    let mut text = walker.look(|names| render(&prompt.text, names))?;
    for fragment in &prompt.fragments {
        let holds = match &fragment.when {
            Some(condition) => walker.holds(condition)?,
            None => true,
        };
        if holds {
            text.push_str("\n\n");
            text.push_str(&walker.look(|names| render(&fragment.text, names))?);
        }
    }
    Ok(text)
}

fn call(walker: &mut Walker<'_>, tool: &Tool) -> Result<String, Block> {
    let arguments = Value::Object(walker.values(&tool.args)?);
    Ok(format!(
        "Call the tool `{}` with these arguments, and send what it returns in `output.result`:\n\n\
         ```json\n{arguments:#}\n```",
        tool.name
    ))
}
