//! The text of an answer: for agents and people who read, and the same for the same answer each time.
//!
//! What to do comes first, the tokens last: each once, alone on its line in a fenced block, so that it
//! is copied whole. The text says nothing that the JSON does not say, and names the same tokens.

mod form;

pub(crate) use self::form::form;

use std::fmt::Write as _;

use serde_json::Value;
use trackway_definition::Fault;
use trackway_domain::{Block, Code, Expected, Need, Pending, WantedFact, Warning};
use trackway_runtime::Position;

use crate::{
    quoted::{in_one_line, quoted, without_tokens},
    refusal::Refusal,
};

/// Version of the wording below, kept with every recorded answer. A change of wording is a new
/// version, and the old one stays for what was told in it.
pub(crate) const TEXT_VERSION: u32 = 1;

/// The tokens of an answer, as they were signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) state: String,
    pub(crate) ack: Option<String>,
}

/// A start, an advance or a look. A recap is text of its own, between the step and the tokens.
pub(crate) fn position(position: &Position, tokens: &Tokens, recap: &str) -> String {
    let mut text = String::new();
    match (&position.blocked, &position.pending) {
        (Some(block), Some(_)) if tokens.ack.is_none() => over(&mut text, block),
        (Some(block), pending) => blocked(&mut text, block, pending.as_ref()),
        (None, Some(pending)) => step(&mut text, pending, &position.guidance),
        (None, None) => complete(&mut text, &position.workflow),
    }
    if position.advanced && position.branch.forked {
        let (number, siblings) = (position.branch.index + 1, position.branch.siblings);
        line(
            &mut text,
            &format!(
                "Forked: this snapshot had been answered before, so this answer made a new branch ({number} of {siblings}). The other branches are unchanged and can go on with their own tokens."
            ),
        );
    }
    warnings(&mut text, &position.warnings);
    text.push_str(recap);
    let mut text = without_tokens(&text, tokens);
    fence_token(&mut text, "stateToken", &tokens.state);
    if let Some(ack) = &tokens.ack {
        fence_token(&mut text, "ackToken", ack);
    }
    text
}

fn step(text: &mut String, pending: &Pending, guidance: &[String]) {
    let _ = writeln!(text, "# {}\n\n{}\n", in_one_line(&pending.title), quoted(&pending.prompt));
    if !guidance.is_empty() {
        line(text, "Rules of this workflow:");
        for rule in guidance {
            let _ = writeln!(text, "- {}", quoted(rule).replace('\n', "\n  "));
        }
        text.push('\n');
    }
    if let Some(expected) = &pending.output {
        output(text, expected);
    }
    let _ = writeln!(text, "Next:");
    let mut number = 1;
    let mut item = |text: &mut String, what: &str| {
        let _ = writeln!(text, "{number}. {what}");
        number += 1;
    };
    item(text, "Do the step above.");
    if pending.confirm {
        item(
            text,
            "This step needs the user's agreement: show the user what you did and ask. Go on only if the user agrees; a client that asks the user itself will ask on the advance.",
        );
    }
    if !pending.facts.is_empty() {
        item(
            text,
            &format!(
                "Later steps depend on facts that are not set yet. Put those that you know into `context`: {}.",
                wanted(&pending.facts)
            ),
        );
    }
    let brought = match &pending.output {
        Some(Expected { required: true, .. }) => ", the `output` described above",
        Some(_) => ", where you have it the `output` described above",
        None => "",
    };
    let facts = if pending.facts.is_empty() { "" } else { ", these facts as `context`" };
    item(
        text,
        &format!(
            "Call `workflow_advance` with both tokens below, copied exactly{brought}{facts}, and a short recap as `notesMarkdown`."
        ),
    );
    text.push('\n');
}

/// Facts with the values that later conditions compare them with.
fn wanted(facts: &[WantedFact]) -> String {
    let each = facts.iter().map(|fact| {
        let values: Vec<String> = fact.values.iter().map(Value::to_string).collect();
        let name = in_one_line(&fact.name);
        match in_one_line(&values.join(", ")) {
            values if values.is_empty() => format!("`{name}`"),
            values => format!("`{name}` (compared with {values})"),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The example first; the form only where it says more.
fn output(text: &mut String, expected: &Expected) {
    let how = if expected.required { "Required" } else { "Optional" };
    let _ = writeln!(text, "{how} `output`, for example:\n```json\n{}\n```", expected.example);
    if form::says_more(&expected.schema, &expected.example) {
        let form = form(&expected.schema);
        let _ = writeln!(text, "Its form (`?`: may be missing):\n```\n{form}\n```");
    }
    text.push('\n');
}

/// A heading of its own kind: that of a step begins with `# `, so that no title can look like the end.
fn complete(text: &mut String, workflow: &str) {
    let _ = writeln!(
        text,
        "=== END OF THE RUN ===\n\nThe workflow `{workflow}` is complete here: no step is pending and there is nothing to advance. Tell the user the outcome.\n"
    );
}

/// Somebody ended the run, or it came from elsewhere: an agent can do nothing about it.
fn over(text: &mut String, block: &Block) {
    let heading = match block.code == Code::NotAdopted.as_str() {
        true => "Not open",
        false => "Over",
    };
    let _ = writeln!(text, "# {heading}: {}\n\n{}\n", block.code, quoted(&block.message));
}

fn blocked(text: &mut String, block: &Block, pending: Option<&Pending>) {
    let _ = writeln!(text, "# Blocked: {}\n\n{}\n", block.code, quoted(&block.message));
    if block.code == FOLLOWUP {
        followup(text, block);
    } else {
        line(text, "Nothing advanced. What is needed, by place in the arguments of your call:");
        needs(text, &block.needs);
        line(
            text,
            "Next: call `workflow_advance` with the same stateToken, the FRESH ackToken below (the one that you sent would only get this answer again), and everything from your call with the changes above.",
        );
    }
    if let Some(pending) = pending {
        let _ = writeln!(
            text,
            "The step is still: {}\n\n{}\n",
            in_one_line(&pending.title),
            quoted(&pending.prompt)
        );
    }
}

/// Code of a block by a judgement that asks for more work.
const FOLLOWUP: &str = "followup-required";

/// The work comes first: nothing here says which judgement would pass.
fn followup(text: &mut String, block: &Block) {
    line(
        text,
        "Nothing advanced. Your own judgement asks for follow-up work before this step is done:",
    );
    for need in &block.needs {
        let _ = writeln!(
            text,
            "- judged at `{}`: {}",
            need.pointer,
            quoted(&need.message).replace('\n', "\n  ")
        );
    }
    text.push('\n');
    line(
        text,
        "Next: do that work. Then judge again by what you find, and call `workflow_advance` with the same stateToken, the FRESH ackToken below and the whole `output` with the new judgement. A judgement that is changed without the work is worth nothing.",
    );
}

pub(crate) fn needs(text: &mut String, needs: &[Need]) {
    for need in needs {
        let pointer = if need.pointer.is_empty() { "(all arguments)" } else { &need.pointer };
        let _ = writeln!(text, "- `{pointer}`: {}", quoted(&need.message).replace('\n', "\n  "));
        let more = need.schema.as_ref().filter(|schema| match &need.example {
            Some(example) => form::says_more(schema, example),
            None => true,
        });
        let lines = [
            ("example", need.example.as_ref().map(Value::to_string)),
            ("form", more.map(form)),
            ("you sent", need.got.as_ref().map(Value::to_string)),
        ];
        for (label, value) in lines {
            if let Some(value) = value {
                let _ = writeln!(text, "  - {label}: `{value}`");
            }
        }
    }
    text.push('\n');
}

fn warnings(text: &mut String, warnings: &[Warning]) {
    for warning in warnings {
        line(text, &format!("Warning `{}`: {}", warning.code, quoted(&warning.message)));
    }
}

/// Notes were recorded on a node.
pub(crate) fn checkpoint(position: &Position, tokens: &Tokens, repeated: bool) -> String {
    let mut text = String::from(if repeated {
        "# Checkpoint\n\nThese notes were recorded on this snapshot before; they stand once.\n\n"
    } else {
        "# Checkpoint\n\nThe notes are recorded on this snapshot.\n\n"
    });
    line(
        &mut text,
        "Nothing advanced: the tokens that you have are still good. With the stateToken alone, `workflow_advance` shows the pending step again.",
    );
    warnings(&mut text, &position.warnings);
    let mut text = without_tokens(&text, tokens);
    fence_token(&mut text, "stateToken", &tokens.state);
    text
}

/// Notes were recorded on a session.
pub(crate) fn session_checkpoint(session: &str, repeated: bool) -> String {
    let what = if repeated { "had been recorded on" } else { "are recorded on" };
    format!("# Checkpoint\n\nThe notes {what} session `{session}`.\n")
}

pub(crate) fn refusal(refusal: &Refusal) -> String {
    let mut text = format!("Error `{}`: {}\n\n", refusal.code, refusal.message);
    line(&mut text, &format!("Next: {}", refusal.next));
    if !refusal.needs.is_empty() {
        line(&mut text, "What is needed, by place in the arguments of your call:");
        needs(&mut text, &refusal.needs);
    }
    text.push_str(if refusal.retryable {
        "The same call may work later.\n"
    } else {
        "The same call will be refused again.\n"
    });
    text
}

/// A fault of a file in one line.
pub(crate) fn fault(fault: &Fault) -> String {
    match &fault.suggestion {
        Some(suggestion) => format!("{} ({suggestion})", fault.message),
        None => fault.message.clone(),
    }
}

/// A fault with its place, as far as it has one: the fault of a folder has neither line nor pointer.
pub(crate) fn placed(found: &Fault) -> String {
    let line = found.line.map(|line| format!("line {line}"));
    let path = Some(format!("`{}`", found.path)).filter(|_| !found.path.is_empty());
    let place: Vec<String> = line.into_iter().chain(path).collect();
    match place.is_empty() {
        true => fault(found),
        false => format!("{}: {}", place.join(", "), fault(found)),
    }
}

/// The first characters of a text, with a mark where it goes on.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A paragraph.
pub(crate) fn line(text: &mut String, paragraph: &str) {
    let _ = writeln!(text, "{paragraph}\n");
}

pub(crate) fn fence_token(text: &mut String, label: &str, token: &str) {
    let _ = writeln!(text, "{label}:\n```\n{token}\n```");
}

#[cfg(test)]
mod tests;
