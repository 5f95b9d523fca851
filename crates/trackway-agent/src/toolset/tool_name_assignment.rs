//! Unique names that every provider accepts.

use std::collections::BTreeSet;

use crate::tool_naming::{NAME_CHARS_MAX, SERVER_SEPARATOR, append_name_digest, sanitize_tool_name};

/// The prefix of a workflow that can be dispatched (D1).
pub const DISPATCH_PREFIX: &str = "dispatch_workflow_";

/// The prefix of a workflow of a peer (I3).
pub const PEER_WORKFLOW_PREFIX: &str = "workflow_";

/// The prefix of a peer that is an agent (I3).
const PEER_AGENT_PREFIX: &str = "peer_";

/// The tool with which a model answers the question of a run on behalf of the user. The name is
/// reserved.
pub const REPLY_TOOL: &str = "answer_task";

/// The tool with which a model reads the status of tasks that it dispatched. The name is reserved.
pub const STATUS_TOOL: &str = "task_status";

/// Names for these, in their order. A valid name stays unchanged, unless it is reserved or an earlier
/// one has it. A name that must be cut, or that becomes equal to another one when characters are
/// replaced, ends with a suffix. The suffix is derived from the whole name, so it is always the same.
pub(super) fn assign_tool_names(preferred_names: &[String]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::from([REPLY_TOOL, STATUS_TOOL].map(str::to_owned));
    let stays: Vec<bool> = preferred_names
        .iter()
        .map(|name| sanitize_and_truncate_name(name) == *name && taken.insert(name.clone()))
        .collect();
    // How many of the changed names become equal.
    let alike = |name: &str| {
        let others = preferred_names.iter().zip(&stays).filter(|(_, stays)| !**stays);
        others
            .filter(|(other, _)| sanitize_and_truncate_name(other) == sanitize_and_truncate_name(name))
            .count()
    };
    let mut names = Vec::with_capacity(preferred_names.len());
    for (name, stays) in preferred_names.iter().zip(&stays) {
        if *stays {
            names.push(name.clone());
            continue;
        }
        let is_cut = name.chars().count() > NAME_CHARS_MAX;
        let mut round = 0;
        let mut fresh = if is_cut || alike(name) > 1 {
            tool_name_with_digest(name, round)
        } else {
            sanitize_and_truncate_name(name)
        };
        while !taken.insert(fresh.clone()) {
            fresh = tool_name_with_digest(name, round);
            round += 1;
        }
        names.push(fresh);
    }
    names
}

/// The name without the prefix that was added for the model.
pub(super) fn strip_tool_name_prefix(name: &str) -> &str {
    let prefixes = [DISPATCH_PREFIX, PEER_WORKFLOW_PREFIX, PEER_AGENT_PREFIX];
    let name = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    name.rsplit_once(SERVER_SEPARATOR).map_or(name, |(_, tool)| tool)
}

/// The name in characters that every provider accepts, cut to the maximum length.
fn sanitize_and_truncate_name(name: &str) -> String {
    // Everything is ASCII at this point.
    let mut plain = sanitize_tool_name(name);
    plain.truncate(NAME_CHARS_MAX);
    plain
}

fn tool_name_with_digest(name: &str, round: u32) -> String {
    append_name_digest(&sanitize_and_truncate_name(name), format!("{name}\n{round}"))
}
