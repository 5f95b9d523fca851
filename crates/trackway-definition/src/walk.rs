//! The interpreter's position in a definition, and the walk from one position to the next.
//!
//! A [`WalkPosition`] is a stack of frames, one for each list of steps that the walk is inside of. Positions
//! are numbers, because a position is only used with the pinned definition that it was made with;
//! `guided::repin` moves it to another one by the steps' ids. All progress is kept here, and none in the
//! context: what an agent sends can never move a loop.
//!
//! The walk is the same for both drivers. It continues by itself until an outside action is needed or until
//! the end; [`WalkDriver`] says which steps are outside. [`Walker`] is a walk in progress.

mod block_reasons;
mod context_size_limits;
mod loop_decisions;
mod loop_item_requirements;
mod loop_variables;
mod nested_context;
mod step_entry;
mod step_lookup;
mod undecided_steps;
mod value_resolution;
mod walker;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::Object;

pub(crate) use self::{
    block_reasons::lost_position_block,
    loop_variables::loop_variable_names,
    step_lookup::{owner_step_of_root, walk_root_inside_current_step},
    walker::Walker,
};

/// A position in a definition. A stored format: every node of a guided run contains one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkPosition {
    #[serde(default, skip_serializing_if = "WalkRoot::is_default")]
    pub(crate) root: WalkRoot,
    /// From the outermost list to the one with the current step. Empty when the walk is complete.
    pub(crate) frames: Vec<WalkFrame>,
    /// Decisions sent before their loops are reached; by the loop's id, empty for the next loop.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) early_decisions: BTreeMap<String, LoopDecision>,
}

/// The list of steps that a walk covers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkRoot {
    /// The definition's exit handlers instead of its steps.
    #[serde(default)]
    pub(crate) exit: bool,
    /// The path from there to the map of this item.
    #[serde(default)]
    pub(crate) hops: Vec<StepPathHop>,
}

impl WalkRoot {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Into the step at a position, and into one of its cases if it is a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepPathHop {
    pub(crate) step_index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) case: Option<usize>,
}

/// One list of steps that the walk is inside of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkFrame {
    /// Position of the current step.
    pub(crate) step_index: usize,
    pub(crate) kind: WalkFrameKind,
}

/// What a list of steps belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WalkFrameKind {
    Root,
    Group,
    /// The case with this number.
    Switch(usize),
    /// `outer` is the context outside, if the inner steps have their own.
    Nested {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outer: Option<Object>,
    },
    Loop(LoopFrameState),
    Map(MapFrameState),
}

/// The progress of a loop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopFrameState {
    /// From 0.
    pub(crate) round: u32,
    /// The list as it was when the loop was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<Vec<Value>>,
    /// The number of rounds as it was when the loop was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// The last decision of this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<LoopDecision>,
    /// What the context held under the loop's own names; restored when the loop is left.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub(crate) shadowed: Object,
}

/// The progress of a map that handles its items one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapFrameState {
    pub(crate) list: Vec<Value>,
    /// Results of the items before the current one.
    pub(crate) results: Vec<Value>,
    /// The context outside; each item begins with it and does not change it.
    pub(crate) outer: Object,
}

/// The decision in an artifact `wr.loop_control`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoopDecision {
    Continue,
    Stop,
}

/// Which driver walks, and so which steps are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkDriver {
    /// An outside agent: prompts, questions and tools are for it. Emitted artifacts become documents on the
    /// way, and a map handles one item after the other.
    Caller,
    /// The engine, which carries out every step that is not only control flow.
    Engine,
}
