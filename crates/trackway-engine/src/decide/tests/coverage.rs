//! Which transitions the tables cover.

use std::collections::BTreeSet;

use super::{COMMANDS, STATES};
use crate::{TRANSITIONS, fixture::ScriptedRun};

/// Proves L11, L12: every transition of the table is reached by some command, and no other.
#[test]
fn the_tables_reach_every_transition() {
    let mut reached = BTreeSet::new();
    for (_, given) in STATES {
        for command in COMMANDS {
            let mut story = ScriptedRun::after_commands(given);
            // A refused command moves nothing; this test only counts moves.
            let _ = story.try_scripted_command(command);
            reached.extend(story.moves);
        }
    }
    let table: BTreeSet<_> =
        TRANSITIONS.iter().flat_map(|(from, next)| next.iter().map(|to| (*from, *to))).collect();
    let show = |pairs: Vec<_>| {
        let lines = pairs.iter().map(|(from, to)| format!("{from} -> {to}"));
        lines.collect::<Vec<_>>().join(", ")
    };
    let missing = show(table.difference(&reached).copied().collect());
    assert_eq!(missing, "", "transitions that no table reaches");
    let beyond = show(reached.difference(&table).copied().collect());
    assert_eq!(beyond, "", "transitions that the table does not hold");
}
