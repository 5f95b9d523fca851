//! From positions to steps.

use trackway_domain::BlockReason;

use super::{StepPathHop, WalkFrameKind, WalkPosition, WalkRoot, block_reasons::lost_position_block};
use crate::model::{Definition, Step, StepKind};

/// The list of steps of each frame.
pub(super) fn step_lists_of_frames<'d>(
    definition: &'d Definition,
    walk: &WalkPosition,
) -> Result<Vec<&'d [Step]>, BlockReason> {
    let mut lists = Vec::with_capacity(walk.frames.len());
    let mut above: Option<&'d Step> = None;
    for frame in &walk.frames {
        let list = match (above, &frame.kind) {
            (None, WalkFrameKind::Root) => steps_of_walk_root(definition, &walk.root),
            (Some(step), inside) => inner_steps_of_frame(step, inside),
            (None, _) => None,
        };
        let list = list.ok_or_else(mismatched_position_block)?;
        above = list.get(frame.step_index);
        lists.push(list);
    }
    Ok(lists)
}

/// The list that a walk covers.
pub(super) fn steps_of_walk_root<'d>(definition: &'d Definition, root: &WalkRoot) -> Option<&'d [Step]> {
    let mut list: &'d [Step] = if root.exit { &definition.on_exit } else { &definition.steps };
    for hop in &root.hops {
        list = inner_steps_of_case(list.get(hop.step_index)?, hop.case)?;
    }
    Some(list)
}

/// The step whose inside a walk covers; none if it is the definition itself.
pub(crate) fn owner_step_of_root<'d>(definition: &'d Definition, root: &WalkRoot) -> Option<&'d Step> {
    let (last, way) = root.hops.split_last()?;
    let above = WalkRoot { exit: root.exit, hops: way.to_vec() };
    steps_of_walk_root(definition, &above)?.get(last.step_index)
}

/// The path to the current step, for a walk of its inside.
pub(crate) fn walk_root_inside_current_step(walk: &WalkPosition) -> WalkRoot {
    let mut hops = walk.root.hops.clone();
    let mut frames = walk.frames.iter().peekable();
    while let Some(frame) = frames.next() {
        let case = match frames.peek().map(|next| &next.kind) {
            Some(WalkFrameKind::Switch(case)) => Some(*case),
            _ => None,
        };
        hops.push(StepPathHop { step_index: frame.step_index, case });
    }
    WalkRoot { exit: walk.root.exit, hops }
}

/// The steps inside a step, if it has the kind that the frame says.
fn inner_steps_of_frame<'d>(step: &'d Step, frame_kind: &WalkFrameKind) -> Option<&'d [Step]> {
    match (frame_kind, &step.kind) {
        (WalkFrameKind::Switch(case), StepKind::Switch(_)) => inner_steps_of_case(step, Some(*case)),
        (WalkFrameKind::Group, StepKind::Group(_))
        | (WalkFrameKind::Nested { .. }, StepKind::Nested(_))
        | (WalkFrameKind::Loop(_), StepKind::Loop(_))
        | (WalkFrameKind::Map(_), StepKind::Map(_)) => inner_steps_of_case(step, None),
        _ => None,
    }
}

/// The steps inside a step; of a switch, those of a case.
fn inner_steps_of_case(step: &Step, case: Option<usize>) -> Option<&[Step]> {
    let lists = step.kind.inner_steps();
    let list = if matches!(step.kind, StepKind::Switch(_)) { case? } else { 0 };
    lists.get(list).copied()
}

fn mismatched_position_block() -> BlockReason {
    lost_position_block("the position was not made with this definition")
}
