//! What an outside agent sees at a step.

use serde_json::Value;
use trackway_domain::{BlockReason, PendingStep};

use crate::{
    context_facts,
    model::{PromptStep, Step, StepKind, ToolStep},
    output_check, step_prompt,
    template::render_template,
    walk::{Walker, lost_position_block},
};

/// Naming more at once does not help; the next attempt names the rest.
/// Limit (Definitions): needs that one refused answer names.
const NEEDS_MAX: usize = 16;

/// Code of a block for names that are not set.
const MISSING: &str = "context-missing";

/// The step at which a walk has stopped, with everything rendered.
pub(super) fn build_pending_step(walker: &mut Walker<'_>, step: &Step) -> Result<PendingStep, BlockReason> {
    let asked = step_prompt::prompt_of_step(step)
        .ok_or_else(|| lost_position_block("the position is not at a step"))?;
    let prompt = match &step.kind {
        StepKind::Tool(tool) => render_tool_call_prompt(walker, tool),
        _ => render_prompt_text(walker, &asked),
    };
    let title = walker.read_context_supplying_facts(|names| render_template(&step.title, names));
    let confirm = match &asked.confirm {
        Some(condition) => walker.condition_holds(condition),
        None => Ok(false),
    };
    // What the parts lack is requested together.
    match (title, prompt, confirm) {
        (Ok(title), Ok(prompt), Ok(confirm)) => {
            let output = output_check::expected_step_output(&asked);
            let facts = context_facts::missing_facts_ahead(walker);
            Ok(PendingStep { step: step.id.clone(), title, prompt, confirm, output, facts })
        }
        (title, prompt, confirm) => {
            let blocks = [prompt.err(), title.err(), confirm.err()];
            Err(walker.add_step_name_to_block(&step.id, merge_block_reasons(blocks.into_iter().flatten())))
        }
    }
}

/// A prompt's text, with the fragments whose conditions hold.
pub(crate) fn render_prompt_text(
    walker: &mut Walker<'_>,
    prompt: &PromptStep,
) -> Result<String, BlockReason> {
    let mut parts = vec![walker.read_context_supplying_facts(|names| render_template(&prompt.text, names))];
    for fragment in &prompt.fragments {
        let holds = match &fragment.when {
            Some(condition) => walker.condition_holds(condition),
            None => Ok(true),
        };
        match holds {
            Ok(true) => parts
                .push(walker.read_context_supplying_facts(|names| render_template(&fragment.text, names))),
            Ok(false) => {}
            Err(block) => parts.push(Err(block)),
        }
    }
    let (texts, blocks): (Vec<_>, Vec<_>) = parts.into_iter().partition(Result::is_ok);
    if blocks.is_empty() {
        let texts: Vec<String> = texts.into_iter().filter_map(Result::ok).collect();
        return Ok(texts.join("\n\n"));
    }
    Err(merge_block_reasons(blocks.into_iter().filter_map(Result::err)))
}

/// One block for what several parts of a prompt lack. Only unset names are merged: they may be the cause of
/// other faults.
fn merge_block_reasons(blocks: impl Iterator<Item = BlockReason>) -> BlockReason {
    let all: Option<BlockReason> = blocks.reduce(|mut all, block| {
        if all.code == block.code && block.code == MISSING {
            let known: Vec<String> = all.needs.iter().map(|need| need.pointer.clone()).collect();
            let new = block.needs.into_iter().filter(|need| !known.contains(&need.pointer));
            all.needs.extend(new);
            all.needs.truncate(NEEDS_MAX);
        }
        all
    });
    all.unwrap_or_else(|| lost_position_block("the prompt cannot be made"))
}

fn render_tool_call_prompt(walker: &mut Walker<'_>, tool: &ToolStep) -> Result<String, BlockReason> {
    let arguments = Value::Object(walker.resolve_value_expressions(&tool.args)?);
    Ok(format!(
        "Call the tool `{}` with these arguments, and send what it returns in `output.result`:\n\n\
         ```json\n{arguments:#}\n```",
        tool.name
    ))
}
