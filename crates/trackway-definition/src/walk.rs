//! The interpreter's place in a definition, and the walk from one place to the next.
//!
//! A [`Walk`] is a stack of frames, one for each list of steps that the walk is inside of. Positions are
//! numbers, because a walk is only ever read together with the pinned definition that it was made with;
//! `guide::repin` carries it over to another one by the steps' ids. All progress is kept here, and none
//! in the context: what an agent sends can never move a loop.
//!
//! The walk is the same for both drivers. It goes on by itself until something outside has to happen or
//! until the end; [`Mode`] says which steps are outside. [`Walker`] is a walk under way.

mod item_needs;
mod loop_decisions;
mod loop_variables;
mod nested_context;
mod size_limits;
mod step_entry;
mod step_lookup;
mod undecided_steps;
mod value_resolution;
mod walk_blocks;
mod walker;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::Object;

pub(crate) use self::{
    loop_variables::loop_names,
    step_lookup::{owner_step, root_for_item},
    walk_blocks::lost_position_block,
    walker::Walker,
};

/// A place in a definition. A stored format: it lies in every node of a guided run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkPosition {
    #[serde(default, skip_serializing_if = "WalkRoot::is_default")]
    pub(crate) root: WalkRoot,
    /// From the outermost list to the one with the step at hand. Empty when the walk is complete.
    pub(crate) frames: Vec<WalkFrame>,
    /// Decisions sent before the loops that they are for; by the loop's id, empty for whichever is next.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) early_decisions: BTreeMap<String, LoopDecision>,
}

/// The list of steps that a walk is a walk of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkRoot {
    /// The definition's exit handlers instead of its steps.
    #[serde(default)]
    pub(crate) exit: bool,
    /// The way from there to a map whose item this is.
    #[serde(default)]
    pub(crate) hops: Vec<PathHop>,
}

impl WalkRoot {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Into the step at a position, and into one of its cases where it is a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathHop {
    pub(crate) step_index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) case: Option<usize>,
}

/// One list of steps that the walk is inside of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkFrame {
    /// Position of the step at hand.
    pub(crate) step_index: usize,
    pub(crate) kind: FrameKind,
}

/// What a list of steps belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FrameKind {
    Root,
    Group,
    /// The case with this number.
    Switch(usize),
    /// `outer` is the context outside, where the inner steps have one of their own.
    Nested {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outer: Option<Object>,
    },
    Loop(LoopState),
    Map(MapState),
}

/// Where a loop stands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopState {
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
    /// What the context held under the loop's own names; put back when the loop is left.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub(crate) shadowed: Object,
}

/// Where a map stands that goes through its items one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapState {
    pub(crate) list: Vec<Value>,
    /// Results of the items before the one at hand.
    pub(crate) results: Vec<Value>,
    /// The context outside; each item begins with it and leaves nothing in it.
    pub(crate) outer: Object,
}

/// What an artifact `wr.loop_control` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoopDecision {
    Continue,
    Stop,
}

/// Who drives, and so which steps are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkMode {
    /// An outside agent, who is asked for prompts, questions and tools. Emitted artifacts become
    /// documents on the way, and a map is gone through one item after the other.
    Caller,
    /// The engine, which does every step that is not only control.
    Engine,
}
