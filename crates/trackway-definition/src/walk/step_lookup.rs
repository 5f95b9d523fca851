//! From positions to steps.

use trackway_domain::BlockReason;

use super::{FrameKind, PathHop, WalkPosition, WalkRoot, walk_blocks::lost_position_block};
use crate::model::{Definition, Step, StepKind};

/// The list of steps of each frame.
pub(super) fn frame_lists<'d>(
    definition: &'d Definition,
    walk: &WalkPosition,
) -> Result<Vec<&'d [Step]>, BlockReason> {
    let mut lists = Vec::with_capacity(walk.frames.len());
    let mut above: Option<&'d Step> = None;
    for frame in &walk.frames {
        let list = match (above, &frame.kind) {
            (None, FrameKind::Root) => root_steps(definition, &walk.root),
            (Some(step), inside) => inner_list(step, inside),
            (None, _) => None,
        };
        let list = list.ok_or_else(foreign_walk_block)?;
        above = list.get(frame.step_index);
        lists.push(list);
    }
    Ok(lists)
}

/// The list that a walk covers.
pub(super) fn root_steps<'d>(definition: &'d Definition, root: &WalkRoot) -> Option<&'d [Step]> {
    let mut list: &'d [Step] = if root.exit { &definition.on_exit } else { &definition.steps };
    for hop in &root.hops {
        list = inner_steps(list.get(hop.step_index)?, hop.case)?;
    }
    Some(list)
}

/// The step whose inside a walk covers; none if it is the definition itself.
pub(crate) fn owner_step<'d>(definition: &'d Definition, of: &WalkRoot) -> Option<&'d Step> {
    let (last, way) = of.hops.split_last()?;
    let above = WalkRoot { exit: of.exit, hops: way.to_vec() };
    root_steps(definition, &above)?.get(last.step_index)
}

/// The path to the current step, for a walk of its inside.
pub(crate) fn root_for_item(walk: &WalkPosition) -> WalkRoot {
    let mut hops = walk.root.hops.clone();
    let mut frames = walk.frames.iter().peekable();
    while let Some(frame) = frames.next() {
        let case = match frames.peek().map(|next| &next.kind) {
            Some(FrameKind::Switch(case)) => Some(*case),
            _ => None,
        };
        hops.push(PathHop { step_index: frame.step_index, case });
    }
    WalkRoot { exit: walk.root.exit, hops }
}

/// The steps inside a step, if it has the kind that the frame says.
fn inner_list<'d>(step: &'d Step, inside: &FrameKind) -> Option<&'d [Step]> {
    match (inside, &step.kind) {
        (FrameKind::Switch(case), StepKind::Switch(_)) => inner_steps(step, Some(*case)),
        (FrameKind::Group, StepKind::Group(_))
        | (FrameKind::Nested { .. }, StepKind::Nested(_))
        | (FrameKind::Loop(_), StepKind::Loop(_))
        | (FrameKind::Map(_), StepKind::Map(_)) => inner_steps(step, None),
        _ => None,
    }
}

/// The steps inside a step; of a switch, those of a case.
fn inner_steps(step: &Step, case: Option<usize>) -> Option<&[Step]> {
    let lists = step.kind.inner_steps();
    let list = if matches!(step.kind, StepKind::Switch(_)) { case? } else { 0 };
    lists.get(list).copied()
}

fn foreign_walk_block() -> BlockReason {
    lost_position_block("the position was not made with this definition")
}
