//! Items of loops and maps that lack something.
//!
//! An item belongs to its list. So what it lacks is requested there, and a list that a call sends corrects
//! the current item. A value under the item's own name changes nothing: it would apply to one round only, and
//! not to the list.

use serde_json::{Value, json};
use trackway_domain::{BlockReason, InputRequirement, Object};

use super::{WalkFrameKind, Walker, loop_variables::round_item_and_index_names};
use crate::{
    cel_expression::{evaluate_expression, expression_reads, unusable_value_error},
    context_error::{self, ContextError, find_context_value, split_context_pointer, top_level_name},
    context_facts,
    model::{LoopKind, LoopStep, Step, StepKind, ValueExpression},
    schema_validation,
};

/// Limit (Definitions): items of one list that a blocked answer names.
const ITEMS_NAMED_MAX: usize = 16;

/// Limit (Definitions): items after the current one that are checked for the same fault.
const ITEMS_TRIED_MAX: usize = 64;

/// What is still wrong with a context, if anything.
type FailureCheck<'f> = &'f dyn Fn(&Object) -> Option<ContextError>;

impl Walker<'_> {
    /// The frame of the loop or map whose item has this name in the frame before `below`.
    pub(super) fn find_frame_of_item_name(&self, name: &str, below_frame: usize) -> Option<usize> {
        let mut around = self.visible_loops(below_frame);
        let (number, step, _) = around.find(|(_, step, _)| {
            let (round, item, index) = round_item_and_index_names(step);
            [round, item, index].contains(&Some(name))
        })?;
        (round_item_and_index_names(step).1 == Some(name)).then_some(number)
    }

    /// Takes the current item, and those after it, from the current list. Returns whether that changed it.
    pub(super) fn refresh_loop_item(&mut self, frame_number: usize) -> bool {
        let Some(source) =
            self.frame_owner_step(frame_number).and_then(|(step, _)| list_expression_of_step(step))
        else {
            return false;
        };
        // The list may be a part of another loop's item.
        if let Some(path) = source.context_name_path()
            && let Some(outer) = self.find_frame_of_item_name(top_level_name(&path), frame_number)
        {
            self.refresh_loop_item(outer);
        }
        let outside = self.context_outside_frame(frame_number);
        let found = match source {
            ValueExpression::Name(path) => find_context_value(&outside, path).cloned(),
            ValueExpression::Cel(source) => evaluate_expression(source, &outside).ok(),
        };
        let Some(Value::Array(now)) = found else { return false };
        let Some(frame) = self.position.frames.get_mut(frame_number) else { return false };
        let (at, items) = match &mut frame.kind {
            WalkFrameKind::Loop(rounds) => (rounds.round as usize, rounds.list.as_mut()),
            WalkFrameKind::Map(items) => (items.results.len(), Some(&mut items.list)),
            _ => return false,
        };
        let Some(items) = items else { return false };
        match (items.get(at), now.get(at)) {
            (Some(old), Some(new)) if old != new => {}
            _ => return false,
        }
        items.iter_mut().zip(now).skip(at).for_each(|(old, new)| *old = new);
        self.set_loop_variables_of_frame(frame_number);
        true
    }

    /// The block for a call that lacks something. `failing` says whether another context would work.
    pub(super) fn block_for_context_error(
        &self,
        error: &ContextError,
        failing: FailureCheck<'_>,
    ) -> BlockReason {
        let mut block = error.to_block_with_top_level_needs(&self.context);
        let frames = self.position.frames.len();
        let is_item = |need: &InputRequirement| {
            split_context_pointer(&need.pointer)
                .and_then(|(name, _)| self.find_frame_of_item_name(&name, frames))
        };
        if !block.needs.iter().any(|need| is_item(need).is_some()) {
            return block;
        }
        let mut needs: Vec<InputRequirement> = Vec::new();
        for need in std::mem::take(&mut block.needs) {
            match is_item(&need) {
                Some(number) => self.add_needs_of_list_items(number, need, failing, &mut needs),
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
    fn add_needs_of_list_items(
        &self,
        frame_number: usize,
        need: InputRequirement,
        failing: FailureCheck<'_>,
        needs: &mut Vec<InputRequirement>,
    ) {
        let Some((step, inside)) = self.frame_owner_step(frame_number) else { return };
        let (at, items) = match inside {
            WalkFrameKind::Loop(rounds) => (rounds.round as usize, rounds.list.as_deref()),
            WalkFrameKind::Map(items) => (items.results.len(), Some(items.list.as_slice())),
            _ => return,
        };
        let (_, Some(item), index) = round_item_and_index_names(step) else { return };
        let with = |place: usize, value: &Value| {
            let mut names = self.context.clone();
            names.insert(item.to_owned(), value.clone());
            index.and_then(|index| names.insert(index.to_owned(), place.into()));
            names
        };
        // What is still wrong after that may be something else.
        let is_wrong = |place: usize, value: &Value| {
            let error = failing(&with(place, value));
            error.is_some_and(|error| error.faulty_name().is_none_or(|name| top_level_name(name) == item))
        };
        // Everything that the inner steps read of an item, if that is enough.
        let shape = context_facts::loop_item_shape(step);
        let whole = |place: usize, value: &Value, need: InputRequirement| match &shape {
            Some(shape) => {
                let example = shape.fill_missing_with_examples(value);
                if example == *value || is_wrong(place, &example) {
                    return need;
                }
                InputRequirement {
                    pointer: context_error::child_pointer("/context", item),
                    schema: Some(shape.to_json_schema()),
                    example: Some(example),
                    got: Some(schema_validation::truncate_value_for_display(value)),
                    ..need
                }
            }
            None => need,
        };
        let here = items.and_then(|items| items.get(at)).unwrap_or(&Value::Null);
        let need = whole(at, here, need);
        let Some(path) = self.list_path_of_frame(frame_number) else {
            let fits = |list: &Value| list.get(at).is_some_and(|value| !is_wrong(at, value));
            needs.extend(self.needs_of_list_expression(frame_number, here, need, &fits));
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
            for need in error.to_block_with_top_level_needs(&names).needs {
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
        item_index: usize,
        mut need: InputRequirement,
        step: &Step,
        needs: &mut Vec<InputRequirement>,
    ) {
        let path = format!("{list}.{item_index}");
        let rest = split_context_pointer(&need.pointer).map(|(_, rest)| rest).unwrap_or_default();
        need.pointer = format!("{}{rest}", context_error::context_argument_pointer(&path));
        let item = round_item_and_index_names(step).1.unwrap_or_default();
        let reason = need.message.replace("; send it in `context`", "");
        need.message = format!("item {item_index} of `{list}`, which is `{item}` in `{}`: {reason}", step.id);
        if find_context_value(&self.sent_facts, &path).is_some() {
            if !needs.iter().any(|other| other.pointer == need.pointer) {
                needs.push(need);
            }
            return;
        }
        let (top, below) = path.split_once('.').unwrap_or((list, ""));
        let below = rest.split('/').skip(1).fold(below.to_owned(), |path, part| {
            format!("{path}.{}", part.replace("~1", "/").replace("~0", "~"))
        });
        context_error::add_need_for_top_level_name(needs, need, top, &below, &self.context);
    }

    /// The needs of the names that an expression computes the list from: a list with the corrected item, or
    /// any other value that leads to such an item.
    fn needs_of_list_expression(
        &self,
        frame_number: usize,
        item: &Value,
        need: InputRequirement,
        fits: &dyn Fn(&Value) -> bool,
    ) -> Vec<InputRequirement> {
        let source = self.frame_owner_step(frame_number).and_then(|(step, _)| list_expression_of_step(step));
        if let Some(ValueExpression::Cel(source)) = source {
            let outside = self.context_outside_frame(frame_number);
            if let Some(example) = &need.example
                && let Some((name, list)) = list_with_replaced_item(source, &outside, item, example, fits)
            {
                return vec![InputRequirement {
                    pointer: context_error::child_pointer("/context", &name),
                    schema: Some(json!({ "type": "array" })),
                    example: Some(list),
                    got: outside.get(&name).map(schema_validation::truncate_value_for_display),
                    ..need
                }];
            }
            let found = unusable_value_error(source, &outside, need.message.clone(), fits)
                .to_block_with_top_level_needs(&outside)
                .needs;
            if found.iter().all(|need| need.example.is_some()) {
                return found;
            }
        }
        // Nothing that a call sends can change it.
        vec![InputRequirement { pointer: "/context".to_owned(), example: None, schema: None, ..need }]
    }

    /// The path of a loop's or map's list in the context that the caller sends.
    fn list_path_of_frame(&self, frame_number: usize) -> Option<String> {
        let (step, _) = self.frame_owner_step(frame_number)?;
        let path = list_expression_of_step(step)?.context_name_path()?;
        let top = top_level_name(&path);
        let Some(outer) = self.find_frame_of_item_name(top, frame_number) else {
            return (!self.is_loop_variable_name(top, frame_number)).then_some(path);
        };
        let at = match self.frame_owner_step(outer)?.1 {
            WalkFrameKind::Loop(rounds) => rounds.round as usize,
            WalkFrameKind::Map(items) => items.results.len(),
            _ => return None,
        };
        let list = self.list_path_of_frame(outer)?;
        Some(format!("{list}.{at}{}", &path[top.len()..]))
    }

    /// The names outside a loop or map, with what this call sent.
    fn context_outside_frame(&self, frame_number: usize) -> Object {
        let Some((step, inside)) = self.frame_owner_step(frame_number) else { return Object::new() };
        let mut outside = match inside {
            WalkFrameKind::Map(items) => items.outer.clone(),
            _ => self.context_of_frame(frame_number).clone(),
        };
        if let WalkFrameKind::Loop(rounds) = inside {
            let own = super::loop_variable_names(step);
            outside.retain(|name, _| !own.contains(&name.as_str()));
            outside.extend(rounds.shadowed.clone());
        }
        let facts =
            self.sent_facts.iter().filter(|(name, _)| !self.is_loop_variable_name(name, frame_number));
        outside.extend(facts.map(|(name, value)| (name.clone(), value.clone())));
        outside
    }

    /// The context of the steps of a frame.
    pub(super) fn context_of_frame(&self, frame_number: usize) -> &Object {
        let inner = self.position.frames.iter().skip(frame_number + 1);
        let mut kept = inner.filter_map(|frame| match &frame.kind {
            WalkFrameKind::Nested { outer } => outer.as_ref(),
            WalkFrameKind::Map(items) => Some(&items.outer),
            _ => None,
        });
        kept.next().unwrap_or(&self.context)
    }
}

/// A name that an expression reads, and a list for it that makes the expression fit: the present list with
/// the item replaced, or a list of only such items.
fn list_with_replaced_item(
    source: &str,
    outer_context: &Object,
    item: &Value,
    example: &Value,
    fits: &dyn Fn(&Value) -> bool,
) -> Option<(String, Value)> {
    let reads = expression_reads(source);
    let mut names: Vec<String> =
        reads.read_paths().iter().map(|(path, _)| top_level_name(path).to_owned()).collect();
    names.dedup();
    for name in names {
        let there = outer_context.get(&name).and_then(Value::as_array);
        let replaced = there.map(|items| -> Vec<Value> {
            let each = items.iter().map(|one| if one == item { example } else { one });
            each.cloned().collect()
        });
        let lists = replaced.into_iter().chain([vec![example.clone()]]);
        for list in lists {
            let mut trial = outer_context.clone();
            trial.insert(name.clone(), Value::Array(list.clone()));
            if evaluate_expression(source, &trial).is_ok_and(|list| fits(&list)) {
                return Some((name, Value::Array(list)));
            }
        }
    }
    None
}

/// The source of the list of a loop or a map.
fn list_expression_of_step(step: &Step) -> Option<&ValueExpression> {
    match &step.kind {
        StepKind::Loop(LoopStep { over: LoopKind::Each { list, .. }, .. }) => Some(list),
        StepKind::Map(map) => Some(&map.list),
        _ => None,
    }
}
