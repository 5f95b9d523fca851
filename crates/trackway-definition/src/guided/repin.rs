//! Moves a position to another definition, by the ids of the steps on the path to it.

use serde_json::Value;
use trackway_domain::{BlockReason, Object};

use super::{GuidedStepState, build_step_state, resume_guided_walker};
use crate::{
    model::{Definition, LoopKind, Step, StepKind},
    step_prompt,
    walk::{WalkDriver, WalkFrame, WalkFrameKind, Walker, lost_position_block},
};

/// The same position in another definition: the pending step is found by its id.
///
/// The enclosing steps (loops, maps, nested workflows, switches) have to enclose it there as well. Groups
/// have no meaning of their own, and may be added or removed.
pub fn repin_to_definition(
    from: &Definition,
    to: &Definition,
    position: &Value,
    context: &Object,
) -> Result<GuidedStepState, BlockReason> {
    let mut walker = resume_guided_walker(from, position, context)?;
    walker.remove_loop_variables();
    let path = walker.path_to_current_step();
    let mut stopped = walker.into_stopped();
    let links = walk_path_without_groups(std::mem::take(&mut stopped.position.frames), &path);
    stopped.position.frames = find_frames_in_definition(&to.steps, links)?;
    let mut walker = Walker::resume_walk(to, WalkDriver::Caller, stopped.position, stopped.context)?;
    walker.reapply_loop_variables();
    let step = walker.current_step();
    build_step_state(walker, step, Vec::new())
}

/// One step on the path, and what its list belongs to.
struct WalkPathStep<'d> {
    frame: WalkFrameKind,
    step: &'d Step,
}

/// The path without its groups.
fn walk_path_without_groups<'d>(frames: Vec<WalkFrame>, path: &[&'d Step]) -> Vec<WalkPathStep<'d>> {
    let mut links: Vec<WalkPathStep<'d>> = Vec::with_capacity(path.len());
    for (frame, step) in frames.into_iter().zip(path) {
        match (frame.kind, links.last_mut()) {
            // The step before was the group: this step replaces it.
            (WalkFrameKind::Group, Some(group)) => group.step = step,
            (inside, _) => links.push(WalkPathStep { frame: inside, step }),
        }
    }
    links
}

/// The frames of the same path in another definition.
fn find_frames_in_definition(
    steps: &[Step],
    path_steps: Vec<WalkPathStep<'_>>,
) -> Result<Vec<WalkFrame>, BlockReason> {
    let mut frames = Vec::new();
    let mut list = steps;
    let mut enclosing: Option<&str> = None;
    let mut links = path_steps.into_iter().peekable();
    while let Some(link) = links.next() {
        let id = &link.step.id;
        let (step, positions) =
            find_step_through_groups(list, id).ok_or_else(|| missing_step_block(id, enclosing))?;
        let mut inside = Some(link.frame);
        for at in positions {
            frames.push(WalkFrame { step_index: at, kind: inside.take().unwrap_or(WalkFrameKind::Group) });
        }
        match links.peek_mut() {
            Some(next) => list = matching_inner_steps(link.step, step, next)?,
            None if step_prompt::prompt_of_step(step).is_none() => {
                return Err(lost_position_block(format!("`{id}` is no step to be answered any more")));
            }
            None => {}
        }
        enclosing = Some(&step.id);
    }
    Ok(frames)
}

/// A step of a list, inside any number of groups, and the positions on the path to it.
fn find_step_through_groups<'d>(list: &'d [Step], id: &str) -> Option<(&'d Step, Vec<usize>)> {
    for (at, step) in list.iter().enumerate() {
        if step.id == id && !matches!(step.kind, StepKind::Group(_)) {
            return Some((step, vec![at]));
        }
        if let StepKind::Group(steps) = &step.kind
            && let Some((found, mut positions)) = find_step_through_groups(steps, id)
        {
            positions.insert(0, at);
            return Some((found, positions));
        }
    }
    None
}

/// The list inside a step that holds the next step.
fn matching_inner_steps<'d>(
    old: &Step,
    new: &'d Step,
    next: &mut WalkPathStep<'_>,
) -> Result<&'d [Step], BlockReason> {
    match (&old.kind, &new.kind) {
        (StepKind::Nested(_), StepKind::Nested(nested)) => Ok(&nested.steps),
        (StepKind::Map(_), StepKind::Map(map)) => Ok(&map.steps),
        (StepKind::Loop(was), StepKind::Loop(is)) if is_same_loop_kind(&was.over, &is.over) => Ok(&is.steps),
        (StepKind::Switch(_), StepKind::Switch(switch)) => {
            let mut cases = switch.cases.iter().enumerate();
            let (number, case) = cases
                .find(|(_, case)| find_step_through_groups(&case.steps, &next.step.id).is_some())
                .ok_or_else(|| missing_step_block(&next.step.id, Some(&new.id)))?;
            next.frame = WalkFrameKind::Switch(number);
            Ok(&case.steps)
        }
        _ => Err(lost_position_block(format!("`{}` is a step of another kind now", new.id))),
    }
}

/// Whether the state of a round of one loop is valid for the other.
fn is_same_loop_kind(first: &LoopKind, other: &LoopKind) -> bool {
    std::mem::discriminant(first) == std::mem::discriminant(other)
}

fn missing_step_block(id: &str, enclosing: Option<&str>) -> BlockReason {
    let location = enclosing.map_or_else(
        || "at the top of the other definition".to_owned(),
        |enclosing| format!("inside of `{enclosing}` in the other definition"),
    );
    lost_position_block(format!("there is no step `{id}` {location}, so the run cannot go on from there"))
}
