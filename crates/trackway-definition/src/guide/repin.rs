//! A place in another definition: found again by the ids of the steps on the way to it.

use serde_json::Value;
use trackway_domain::{Block, Object};

use super::{StepState, resume, standing};
use crate::{
    asked,
    model::{Definition, LoopOver, Step, StepKind},
    walk::{Frame, Inside, Mode, Walker, lost},
};

/// The same place in another definition: the pending step is found again by its id.
///
/// The steps around it (loops, maps, nested workflows, switches) have to be around it there as well;
/// groups are no more than a way of writing, and may come and go.
pub fn repin(
    from: &Definition,
    to: &Definition,
    walk: &Value,
    context: &Object,
) -> Result<StepState, Block> {
    let mut walker = resume(from, walk, context)?;
    walker.lay_names_down();
    let way = walker.way();
    let mut place = walker.stop();
    let links = links(std::mem::take(&mut place.walk.frames), &way);
    place.walk.frames = find(&to.steps, links)?;
    let mut walker = Walker::resume(to, Mode::Caller, place.walk, place.context)?;
    walker.take_names_up();
    let step = walker.here();
    standing(walker, step, Vec::new())
}

/// One step on the way, and what the list that it stands in belongs to.
struct Link<'d> {
    inside: Inside,
    step: &'d Step,
}

/// The way without its groups.
fn links<'d>(frames: Vec<Frame>, way: &[&'d Step]) -> Vec<Link<'d>> {
    let mut links: Vec<Link<'d>> = Vec::with_capacity(way.len());
    for (frame, step) in frames.into_iter().zip(way) {
        match (frame.inside, links.last_mut()) {
            // The step before was the group: this one stands in its place.
            (Inside::Group, Some(group)) => group.step = step,
            (inside, _) => links.push(Link { inside, step }),
        }
    }
    links
}

/// The frames of the same way in another definition.
fn find(steps: &[Step], links: Vec<Link<'_>>) -> Result<Vec<Frame>, Block> {
    let mut frames = Vec::new();
    let mut list = steps;
    let mut around: Option<&str> = None;
    let mut links = links.into_iter().peekable();
    while let Some(link) = links.next() {
        let id = &link.step.id;
        let (step, positions) = within(list, id).ok_or_else(|| gone(id, around))?;
        let mut inside = Some(link.inside);
        for at in positions {
            frames.push(Frame { at, inside: inside.take().unwrap_or(Inside::Group) });
        }
        match links.peek_mut() {
            Some(next) => list = step_into(link.step, step, next)?,
            None if asked::prompt(step).is_none() => {
                return Err(lost(format!("`{id}` is no step to be answered any more")));
            }
            None => {}
        }
        around = Some(&step.id);
    }
    Ok(frames)
}

/// A step of a list, however many groups it is inside of, and the positions on the way.
fn within<'d>(list: &'d [Step], id: &str) -> Option<(&'d Step, Vec<usize>)> {
    for (at, step) in list.iter().enumerate() {
        if step.id == id && !matches!(step.kind, StepKind::Group(_)) {
            return Some((step, vec![at]));
        }
        if let StepKind::Group(steps) = &step.kind
            && let Some((found, mut positions)) = within(steps, id)
        {
            positions.insert(0, at);
            return Some((found, positions));
        }
    }
    None
}

/// The list inside of a step in which the next one is looked for.
fn step_into<'d>(old: &Step, new: &'d Step, next: &mut Link<'_>) -> Result<&'d [Step], Block> {
    match (&old.kind, &new.kind) {
        (StepKind::Nested(_), StepKind::Nested(nested)) => Ok(&nested.steps),
        (StepKind::Map(_), StepKind::Map(map)) => Ok(&map.steps),
        (StepKind::Loop(was), StepKind::Loop(is)) if are_alike(&was.over, &is.over) => {
            Ok(&is.steps)
        }
        (StepKind::Switch(_), StepKind::Switch(switch)) => {
            let mut cases = switch.cases.iter().enumerate();
            let (number, case) = cases
                .find(|(_, case)| within(&case.steps, &next.step.id).is_some())
                .ok_or_else(|| gone(&next.step.id, Some(&new.id)))?;
            next.inside = Inside::Switch(number);
            Ok(&case.steps)
        }
        _ => Err(lost(format!("`{}` is a step of another kind now", new.id))),
    }
}

/// Whether what is known of a round of the one is what the other needs.
fn are_alike(one: &LoopOver, other: &LoopOver) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn gone(id: &str, around: Option<&str>) -> Block {
    let place = around.map_or_else(
        || "at the top of the other definition".to_owned(),
        |around| format!("inside of `{around}` in the other definition"),
    );
    lost(format!("there is no step `{id}` {place}, so the run cannot go on from there"))
}
