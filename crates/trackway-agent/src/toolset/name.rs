//! Names that every provider takes, no two alike.

use std::collections::BTreeSet;

use crate::name::{NAME_CHARS_MAX, SERVER_MARK, in_plain_letters, with_digest};

/// What stands before the name of a workflow that can be dispatched (D1).
pub const DISPATCH_PREFIX: &str = "dispatch_workflow_";

/// The tool by which a model answers the question of a run on the user's behalf. No other has its name.
pub const REPLY_TOOL: &str = "answer_task";

/// The tool by which a model learns what became of the tasks that it dispatched. No other has its name.
pub const STATUS_TOOL: &str = "task_status";

/// Names for these, in their order. A name that can stay as it is stays, unless an earlier one has it or
/// it is ours.
/// One that has to be cut, or that becomes like another by what is replaced in it, ends with a mark that
/// is made from the whole name, and so is the same every time.
pub(super) fn assigned(wanted: &[String]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::from([REPLY_TOOL, STATUS_TOOL].map(str::to_owned));
    let stays: Vec<bool> =
        wanted.iter().map(|name| plain(name) == *name && taken.insert(name.clone())).collect();
    // How many of those that do not stay become alike.
    let alike = |name: &str| {
        let others = wanted.iter().zip(&stays).filter(|(_, stays)| !**stays);
        others.filter(|(other, _)| plain(other) == plain(name)).count()
    };
    let mut names = Vec::with_capacity(wanted.len());
    for (name, stays) in wanted.iter().zip(&stays) {
        if *stays {
            names.push(name.clone());
            continue;
        }
        let is_cut = name.chars().count() > NAME_CHARS_MAX;
        let mut round = 0;
        let mut fresh = if is_cut || alike(name) > 1 { marked(name, round) } else { plain(name) };
        while !taken.insert(fresh.clone()) {
            fresh = marked(name, round);
            round += 1;
        }
        names.push(fresh);
    }
    names
}

/// The name without what stands before it for the model's sake.
pub(super) fn bare(name: &str) -> &str {
    let name = name.strip_prefix(DISPATCH_PREFIX).unwrap_or(name);
    name.rsplit_once(SERVER_MARK).map_or(name, |(_, tool)| tool)
}

/// The name in letters that every provider takes, cut to its longest.
fn plain(name: &str) -> String {
    // All of it is ASCII by now.
    let mut plain = in_plain_letters(name);
    plain.truncate(NAME_CHARS_MAX);
    plain
}

fn marked(name: &str, round: u32) -> String {
    with_digest(&plain(name), format!("{name}\n{round}"))
}
