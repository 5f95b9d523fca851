//! Texts of our own for what WorkRail's files name and WorkRail itself would fill in.

/// What a named snippet of WorkRail is about.
pub(super) fn snippet(id: &str) -> Option<&'static str> {
    Some(match id {
        "wr.refs.memory_usage" => {
            "Where a memory is at hand, look up what it knows before the work and keep what was learnt \
             after it; go on without it where it fails."
        }
        "wr.refs.memory_store" => {
            "Where a memory is at hand, keep what this step found and why; go on without it where it fails."
        }
        "wr.refs.memory_query" => {
            "Where a memory is at hand, look up what it knows of this task; go on without it where it fails."
        }
        "wr.refs.notes_first_durability" => {
            "The notes and the context are what lasts: put decisions, findings and reasons there before \
             you advance. Files beside them are for people to read."
        }
        "wr.refs.synthesis_under_disagreement" => {
            "Where results disagree, settle it openly: weigh the evidence, take the graver view unless \
             it is refuted, and write down how each contradiction was resolved."
        }
        "wr.refs.parallelize_cognition_serialize_synthesis" => {
            "Independent thinking may be done side by side; bringing it together and deciding is done \
             by you alone, one thing after the other."
        }
        "wr.refs.adversarial_challenge_rules" => {
            "Try to refute the leading view: make the best case for another answer, name what would \
             disprove each conclusion, and change the view where the challenge holds."
        }
        _ => return None,
    })
}

/// What a named feature of WorkRail asks of every step.
pub(super) fn feature(id: &str) -> Option<&'static str> {
    Some(match id {
        "wr.features.memory_context" => {
            "Where a memory is at hand, use it for what is known already and for what should be kept; \
             go on without it where it fails."
        }
        "wr.features.capabilities" => {
            "Do not take helpers, the web or other optional means for granted: try them first, and say \
             so where you go on without them."
        }
        "wr.features.subagent_guidance" => {
            "Helpers give you further views, each on a task of its own; you decide, and you bring their \
             results together yourself."
        }
        _ => return None,
    })
}
