//! Tables of (commands before, command) → (events, effects, reply), one line per row.
//!
//! The rows are scripted commands (see `fixture::words`). A table over all states runs one command in
//! each state. The coverage test runs the same commands, so it covers the same transitions.

mod answers;
mod children;
mod coverage;
mod deliver;
mod ends;
mod model;
mod park;
mod properties;
mod records;
mod resumes;
mod starts;
mod step_notes;
mod steps;
mod timers;
mod waiting;
mod yields;

use crate::fixture::ScriptedRun;

/// Commands that lead to each state. Every run has a deadline, so that it can pass in each state.
const STATES: [(&str, &str); 8] = [
    ("submitted", "submit deadline"),
    ("working", "submit deadline; status on it"),
    ("input-required", "submit deadline; ask amount"),
    ("auth-required", "submit deadline; ask signature"),
    ("completed", "submit deadline; return 1"),
    ("failed", "submit deadline; error broken"),
    ("canceled", "submit deadline; cancel"),
    ("rejected", "submit deadline; reject no"),
];

/// The commands that have a table over all states.
const COMMANDS: [&str; 26] = [
    "submit",
    "status hi",
    "artifact a.txt one",
    "append a.txt two",
    "ask amount",
    "ask form",
    "ask signature",
    "reject no",
    "step pay",
    "note pay t-1",
    "retry pay",
    "draw 7",
    "sleep nap",
    "child echo",
    "return 5",
    "error oops",
    "say hello",
    "answer amount=5",
    "answer signature=me",
    "cancel",
    "fire deadline",
    "fire sleep:nap#0",
    "child-ended c1 completed",
    "park mismatch",
    "unpark",
    "withdraw q1",
];

/// The result of one command after others, in one line.
fn outcome_after(given: &str, command: &str) -> String {
    ScriptedRun::after_commands(given).command_summary(command)
}

/// The result of one command in every state, one line per state. If all final states give the same
/// result, they share a line.
fn outcome_in_each_state(command: &str) -> String {
    assert!(COMMANDS.contains(&command), "{command} is not in the list");
    let rows = STATES.map(|(state, given)| {
        let mut story = ScriptedRun::after_commands(given);
        assert_eq!(story.state().as_str(), state, "`{given}` leads there");
        (state, story.command_summary(command))
    });
    let (open, ended) = rows.split_at(4);
    let alike = |(state, line): &(&str, String)| line.replace(&format!("({state})"), "(…)");
    let first = ("ended", alike(&ended[0]));
    let is_alike = ended.iter().all(|row| alike(row) == first.1);
    let ended = if is_alike { std::slice::from_ref(&first) } else { ended };
    let lines = open.iter().chain(ended).map(|(state, line)| format!("{state:<15}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}
