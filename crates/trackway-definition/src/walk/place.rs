//! From positions to steps.

use trackway_domain::Block;

use super::{Hop, Inside, Root, Walk, held::lost};
use crate::model::{Definition, Step, StepKind};

/// The list of steps of each frame.
pub(super) fn lists<'d>(definition: &'d Definition, walk: &Walk) -> Result<Vec<&'d [Step]>, Block> {
    let mut lists = Vec::with_capacity(walk.frames.len());
    let mut above: Option<&'d Step> = None;
    for frame in &walk.frames {
        let list = match (above, &frame.inside) {
            (None, Inside::Root) => root(definition, &walk.root),
            (Some(step), inside) => inner_of(step, inside),
            (None, _) => None,
        };
        let list = list.ok_or_else(elsewhere)?;
        above = list.get(frame.at);
        lists.push(list);
    }
    Ok(lists)
}

/// The list that a walk is a walk of.
pub(super) fn root<'d>(definition: &'d Definition, root: &Root) -> Option<&'d [Step]> {
    let mut list: &'d [Step] = if root.exit { &definition.on_exit } else { &definition.steps };
    for hop in &root.hops {
        list = inner(list.get(hop.at)?, hop.case)?;
    }
    Some(list)
}

/// The step that a walk is a walk of the inside of; none where it is the definition itself.
pub(crate) fn owner<'d>(definition: &'d Definition, of: &Root) -> Option<&'d Step> {
    let (last, way) = of.hops.split_last()?;
    let above = Root { exit: of.exit, hops: way.to_vec() };
    root(definition, &above)?.get(last.at)
}

/// The way to the step at hand, for a walk of its inside.
pub(crate) fn way(walk: &Walk) -> Root {
    let mut hops = walk.root.hops.clone();
    let mut frames = walk.frames.iter().peekable();
    while let Some(frame) = frames.next() {
        let case = match frames.peek().map(|next| &next.inside) {
            Some(Inside::Switch(case)) => Some(*case),
            _ => None,
        };
        hops.push(Hop { at: frame.at, case });
    }
    Root { exit: walk.root.exit, hops }
}

/// The steps inside of a step, where it is what the frame says it is.
fn inner_of<'d>(step: &'d Step, inside: &Inside) -> Option<&'d [Step]> {
    match (inside, &step.kind) {
        (Inside::Switch(case), StepKind::Switch(_)) => inner(step, Some(*case)),
        (Inside::Group, StepKind::Group(_))
        | (Inside::Nested { .. }, StepKind::Nested(_))
        | (Inside::Loop(_), StepKind::Loop(_))
        | (Inside::Map(_), StepKind::Map(_)) => inner(step, None),
        _ => None,
    }
}

/// The steps inside of a step; of a switch, those of a case.
fn inner(step: &Step, case: Option<usize>) -> Option<&[Step]> {
    let lists = step.kind.inner_steps();
    let list = if matches!(step.kind, StepKind::Switch(_)) { case? } else { 0 };
    lists.get(list).copied()
}

fn elsewhere() -> Block {
    lost("the place was not made with this definition")
}
