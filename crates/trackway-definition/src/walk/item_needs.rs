//! Items of loops and maps that lack something.
//!
//! An item belongs to its list. So what it lacks is requested there, and a list that a call sends corrects
//! the current item. A value under the item's own name changes nothing: it would apply to one round only, and
//! not to the list.

use serde_json::{Value, json};
use trackway_domain::{BlockReason, InputRequirement, Object};

use super::{FrameKind, Walker, loop_variables::loop_name_parts};
use crate::{
    context_error::{self, ContextError, find_value, root_name, split_context_pointer},
    context_facts,
    expression::{evaluate, expression_reads, unusable_value_error},
    model::{LoopKind, LoopStep, Step, StepKind, ValueExpression},
    schema,
};

/// Limit (Definitions): items of one list that a blocked answer names.
const ITEMS_NAMED_MAX: usize = 16;

/// Limit (Definitions): items after the current one that are checked for the same fault.
const ITEMS_TRIED_MAX: usize = 64;

/// What is still wrong with a context, if anything.
type FailureCheck<'f> = &'f dyn Fn(&Object) -> Option<ContextError>;

impl Walker<'_> {
    /// The frame of the loop or map whose item has this name in the frame before `below`.
    pub(super) fn find_item_frame(&self, name: &str, below: usize) -> Option<usize> {
        let mut around = self.visible_loops(below);
        let (number, step, _) = around.find(|(_, step, _)| {
            let (round, item, index) = loop_name_parts(step);
            [round, item, index].contains(&Some(name))
        })?;
        (loop_name_parts(step).1 == Some(name)).then_some(number)
    }

    /// Takes the current item, and those after it, from the current list. Returns whether that changed it.
    pub(super) fn refresh_item(&mut self, number: usize) -> bool {
        let Some(source) = self.frame_owner(number).and_then(|(step, _)| list_source(step)) else {
            return false;
        };
        // The list may be a part of another loop's item.
        if let Some(path) = source.path()
            && let Some(outer) = self.find_item_frame(root_name(&path), number)
        {
            self.refresh_item(outer);
        }
        let outside = self.outer_context(number);
        let found = match source {
            ValueExpression::Name(path) => find_value(&outside, path).cloned(),
            ValueExpression::Cel(source) => evaluate(source, &outside).ok(),
        };
        let Some(Value::Array(now)) = found else { return false };
        let Some(frame) = self.position.frames.get_mut(number) else { return false };
        let (at, items) = match &mut frame.kind {
            FrameKind::Loop(rounds) => (rounds.round as usize, rounds.list.as_mut()),
            FrameKind::Map(items) => (items.results.len(), Some(&mut items.list)),
            _ => return false,
        };
        let Some(items) = items else { return false };
        match (items.get(at), now.get(at)) {
            (Some(old), Some(new)) if old != new => {}
            _ => return false,
        }
        items.iter_mut().zip(now).skip(at).for_each(|(old, new)| *old = new);
        self.set_names_of_frame(number);
        true
    }

    /// The block for a call that lacks something. `failing` says whether another context would work.
    pub(super) fn build_block(&self, error: &ContextError, failing: FailureCheck<'_>) -> BlockReason {
        let mut block = error.block_in_context(&self.context);
        let frames = self.position.frames.len();
        let is_item = |need: &InputRequirement| {
            split_context_pointer(&need.pointer).and_then(|(name, _)| self.find_item_frame(&name, frames))
        };
        if !block.needs.iter().any(|need| is_item(need).is_some()) {
            return block;
        }
        let mut needs: Vec<InputRequirement> = Vec::new();
        for need in std::mem::take(&mut block.needs) {
            match is_item(&need) {
                Some(number) => self.add_list_needs(number, need, failing, &mut needs),
                None => needs.push(need),
            }
        }
        needs.truncate(ITEMS_NAMED_MAX);
        if let Some(first) = needs.first() {
            block.message.clone_from(&first.message);
        }
        block.needs = needs;
        block
    }

    /// Adds the needs of an item, and of later items that lack the same, as needs of their list.
    fn add_list_needs(
        &self,
        number: usize,
        need: InputRequirement,
        failing: FailureCheck<'_>,
        needs: &mut Vec<InputRequirement>,
    ) {
        let Some((step, inside)) = self.frame_owner(number) else { return };
        let (at, items) = match inside {
            FrameKind::Loop(rounds) => (rounds.round as usize, rounds.list.as_deref()),
            FrameKind::Map(items) => (items.results.len(), Some(items.list.as_slice())),
            _ => return,
        };
        let (_, Some(item), index) = loop_name_parts(step) else { return };
        let with = |place: usize, value: &Value| {
            let mut names = self.context.clone();
            names.insert(item.to_owned(), value.clone());
            index.and_then(|index| names.insert(index.to_owned(), place.into()));
            names
        };
        // What is still wrong after that may be something else.
        let is_wrong = |place: usize, value: &Value| {
            let error = failing(&with(place, value));
            error.is_some_and(|error| error.name().is_none_or(|name| root_name(name) == item))
        };
        // Everything that the inner steps read of an item, if that is enough.
        let shape = context_facts::item_shape(step);
        let whole = |place: usize, value: &Value, need: InputRequirement| match &shape {
            Some(shape) => {
                let example = shape.complete_value(value);
                if example == *value || is_wrong(place, &example) {
                    return need;
                }
                InputRequirement {
                    pointer: context_error::child_pointer("/context", item),
                    schema: Some(shape.schema()),
                    example: Some(example),
                    got: Some(schema::truncate_value(value)),
                    ..need
                }
            }
            None => need,
        };
        let here = items.and_then(|items| items.get(at)).unwrap_or(&Value::Null);
        let need = whole(at, here, need);
        let Some(path) = self.list_path(number) else {
            let fits = |list: &Value| list.get(at).is_some_and(|value| !is_wrong(at, value));
            needs.extend(self.expression_needs(number, here, need, &fits));
            return;
        };
        self.add_item_need(&path, at, need, step, needs);
        let others = items.unwrap_or_default().iter().enumerate().skip(at + 1);
        for (place, value) in others.take(ITEMS_TRIED_MAX) {
            if needs.len() >= ITEMS_NAMED_MAX {
                return;
            }
            let names = with(place, value);
            let Some(error) = failing(&names) else { continue };
            for need in error.block_in_context(&names).needs {
                if split_context_pointer(&need.pointer).is_some_and(|(name, _)| name == item) {
                    self.add_item_need(&path, place, whole(place, value, need), step, needs);
                }
            }
        }
    }

    /// Adds the needs of one item. If this call sent the list, only the item is requested; otherwise the
    /// whole value of the top-level name, because contexts are merged by those.
    fn add_item_need(
        &self,
        list: &str,
        at: usize,
        mut need: InputRequirement,
        step: &Step,
        needs: &mut Vec<InputRequirement>,
    ) {
        let path = format!("{list}.{at}");
        let rest = split_context_pointer(&need.pointer).map(|(_, rest)| rest).unwrap_or_default();
        need.pointer = format!("{}{rest}", context_error::context_pointer(&path));
        let item = loop_name_parts(step).1.unwrap_or_default();
        let reason = need.message.replace("; send it in `context`", "");
        need.message = format!("item {at} of `{list}`, which is `{item}` in `{}`: {reason}", step.id);
        if find_value(&self.sent_facts, &path).is_some() {
            if !needs.iter().any(|other| other.pointer == need.pointer) {
                needs.push(need);
            }
            return;
        }
        let (top, below) = path.split_once('.').unwrap_or((list, ""));
        let below = rest.split('/').skip(1).fold(below.to_owned(), |path, part| {
            format!("{path}.{}", part.replace("~1", "/").replace("~0", "~"))
        });
        context_error::widen_need(needs, need, top, &below, &self.context);
    }

    /// The needs of the names that an expression computes the list from: a list with the corrected item, or
    /// any other value that leads to such an item.
    fn expression_needs(
        &self,
        number: usize,
        item: &Value,
        need: InputRequirement,
        fits: &dyn Fn(&Value) -> bool,
    ) -> Vec<InputRequirement> {
        let source = self.frame_owner(number).and_then(|(step, _)| list_source(step));
        if let Some(ValueExpression::Cel(source)) = source {
            let outside = self.outer_context(number);
            if let Some(example) = &need.example
                && let Some((name, list)) = list_with_replacement(source, &outside, item, example, fits)
            {
                return vec![InputRequirement {
                    pointer: context_error::child_pointer("/context", &name),
                    schema: Some(json!({ "type": "array" })),
                    example: Some(list),
                    got: outside.get(&name).map(schema::truncate_value),
                    ..need
                }];
            }
            let found = unusable_value_error(source, &outside, need.message.clone(), fits)
                .block_in_context(&outside)
                .needs;
            if found.iter().all(|need| need.example.is_some()) {
                return found;
            }
        }
        // Nothing that a call sends can change it.
        vec![InputRequirement { pointer: "/context".to_owned(), example: None, schema: None, ..need }]
    }

    /// The path of a loop's or map's list in the context that the caller sends.
    fn list_path(&self, number: usize) -> Option<String> {
        let (step, _) = self.frame_owner(number)?;
        let path = list_source(step)?.path()?;
        let top = root_name(&path);
        let Some(outer) = self.find_item_frame(top, number) else {
            return (!self.is_loop_name(top, number)).then_some(path);
        };
        let at = match self.frame_owner(outer)?.1 {
            FrameKind::Loop(rounds) => rounds.round as usize,
            FrameKind::Map(items) => items.results.len(),
            _ => return None,
        };
        let list = self.list_path(outer)?;
        Some(format!("{list}.{at}{}", &path[top.len()..]))
    }

    /// The names outside a loop or map, with what this call sent.
    fn outer_context(&self, number: usize) -> Object {
        let Some((step, inside)) = self.frame_owner(number) else { return Object::new() };
        let mut outside = match inside {
            FrameKind::Map(items) => items.outer.clone(),
            _ => self.context_of_frame(number).clone(),
        };
        if let FrameKind::Loop(rounds) = inside {
            let own = super::loop_names(step);
            outside.retain(|name, _| !own.contains(&name.as_str()));
            outside.extend(rounds.shadowed.clone());
        }
        let facts = self.sent_facts.iter().filter(|(name, _)| !self.is_loop_name(name, number));
        outside.extend(facts.map(|(name, value)| (name.clone(), value.clone())));
        outside
    }

    /// The context of the steps of a frame.
    pub(super) fn context_of_frame(&self, number: usize) -> &Object {
        let inner = self.position.frames.iter().skip(number + 1);
        let mut kept = inner.filter_map(|frame| match &frame.kind {
            FrameKind::Nested { outer } => outer.as_ref(),
            FrameKind::Map(items) => Some(&items.outer),
            _ => None,
        });
        kept.next().unwrap_or(&self.context)
    }
}

/// A name that an expression reads, and a list for it that makes the expression fit: the present list with
/// the item replaced, or a list of only such items.
fn list_with_replacement(
    source: &str,
    outside: &Object,
    item: &Value,
    example: &Value,
    fits: &dyn Fn(&Value) -> bool,
) -> Option<(String, Value)> {
    let reads = expression_reads(source);
    let mut names: Vec<String> = reads.paths().iter().map(|(path, _)| root_name(path).to_owned()).collect();
    names.dedup();
    for name in names {
        let there = outside.get(&name).and_then(Value::as_array);
        let replaced = there.map(|items| -> Vec<Value> {
            let each = items.iter().map(|one| if one == item { example } else { one });
            each.cloned().collect()
        });
        let lists = replaced.into_iter().chain([vec![example.clone()]]);
        for list in lists {
            let mut trial = outside.clone();
            trial.insert(name.clone(), Value::Array(list.clone()));
            if evaluate(source, &trial).is_ok_and(|list| fits(&list)) {
                return Some((name, Value::Array(list)));
            }
        }
    }
    None
}

/// The source of the list of a loop or a map.
fn list_source(step: &Step) -> Option<&ValueExpression> {
    match &step.kind {
        StepKind::Loop(LoopStep { over: LoopKind::Each { list, .. }, .. }) => Some(list),
        StepKind::Map(map) => Some(&map.list),
        _ => None,
    }
}
