//! Items of loops and maps that lack something.
//!
//! An item belongs to its list, so that what it lacks is asked for there, and the list that a call brings
//! corrects the item at hand. What is sent under the item's own name changes nothing: it would hold for
//! one round only, and say nothing about the list.

use serde_json::{Value, json};
use trackway_domain::{Block, Need, Object};

use super::{Inside, Walker, names::names};
use crate::{
    expression::{evaluate, reads, unfit},
    facts,
    lack::{self, Lack, find, in_context, root},
    model::{Loop, LoopOver, Source, Step, StepKind},
    schema,
};

/// Limit (Definitions): items of one list that a blocked answer names.
const ITEMS_NAMED_MAX: usize = 16;

/// Limit (Definitions): items after the one at hand that are looked at for the same fault.
const ITEMS_TRIED_MAX: usize = 64;

/// What is still wrong with names, if anything.
type Failing<'f> = &'f dyn Fn(&Object) -> Option<Lack>;

impl Walker<'_> {
    /// The frame of the loop or map whose item has this name in the frame before `below`.
    pub(super) fn item_frame(&self, name: &str, below: usize) -> Option<usize> {
        let mut around = self.visible(below);
        let (number, step, _) = around.find(|(_, step, _)| {
            let (round, item, index) = names(step);
            [round, item, index].contains(&Some(name))
        })?;
        (names(step).1 == Some(name)).then_some(number)
    }

    /// Takes the item at hand, and those after it, from the list as it is now; whether that changed it.
    pub(super) fn renew_item(&mut self, number: usize) -> bool {
        let Some(source) = self.frame(number).and_then(|(step, _)| list_of(step)) else {
            return false;
        };
        // The list may be a part of another loop's item.
        if let Some(path) = source.path()
            && let Some(outer) = self.item_frame(root(&path), number)
        {
            self.renew_item(outer);
        }
        let outside = self.outside(number);
        let found = match source {
            Source::Name(path) => find(&outside, path).cloned(),
            Source::Cel(source) => evaluate(source, &outside).ok(),
        };
        let Some(Value::Array(now)) = found else { return false };
        let Some(frame) = self.walk.frames.get_mut(number) else { return false };
        let (at, items) = match &mut frame.inside {
            Inside::Loop(rounds) => (rounds.round as usize, rounds.list.as_mut()),
            Inside::Map(items) => (items.results.len(), Some(&mut items.list)),
            _ => return false,
        };
        let Some(items) = items else { return false };
        match (items.get(at), now.get(at)) {
            (Some(old), Some(new)) if old != new => {}
            _ => return false,
        }
        items.iter_mut().zip(now).skip(at).for_each(|(old, new)| *old = new);
        self.put_names_of(number);
        true
    }

    /// The answer to a call that lacks something. `failing` says whether other names would do.
    pub(super) fn block(&self, lack: &Lack, failing: Failing<'_>) -> Block {
        let mut block = lack.block_in(&self.context);
        let frames = self.walk.frames.len();
        let is_item = |need: &Need| {
            in_context(&need.pointer).and_then(|(name, _)| self.item_frame(&name, frames))
        };
        if !block.needs.iter().any(|need| is_item(need).is_some()) {
            return block;
        }
        let mut needs: Vec<Need> = Vec::new();
        for need in std::mem::take(&mut block.needs) {
            match is_item(&need) {
                Some(number) => self.ask_in_list(number, need, failing, &mut needs),
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

    /// Adds what is needed of an item, and of those after it that lack the same, as needs of their list.
    fn ask_in_list(&self, number: usize, need: Need, failing: Failing<'_>, needs: &mut Vec<Need>) {
        let Some((step, inside)) = self.frame(number) else { return };
        let (at, items) = match inside {
            Inside::Loop(rounds) => (rounds.round as usize, rounds.list.as_deref()),
            Inside::Map(items) => (items.results.len(), Some(items.list.as_slice())),
            _ => return,
        };
        let (_, Some(item), index) = names(step) else { return };
        let with = |place: usize, value: &Value| {
            let mut names = self.context.clone();
            names.insert(item.to_owned(), value.clone());
            index.and_then(|index| names.insert(index.to_owned(), place.into()));
            names
        };
        // What is then still wrong may be something else.
        let is_wrong = |place: usize, value: &Value| {
            let lack = failing(&with(place, value));
            lack.is_some_and(|lack| lack.name().is_none_or(|name| root(name) == item))
        };
        // All that the steps inside read of an item, where that is enough.
        let shape = facts::item_shape(step);
        let whole = |place: usize, value: &Value, need: Need| match &shape {
            Some(shape) => {
                let example = shape.mended(value);
                if example == *value || is_wrong(place, &example) {
                    return need;
                }
                Need {
                    pointer: lack::step("/context", item),
                    schema: Some(shape.schema()),
                    example: Some(example),
                    got: Some(schema::cut(value)),
                    ..need
                }
            }
            None => need,
        };
        let here = items.and_then(|items| items.get(at)).unwrap_or(&Value::Null);
        let need = whole(at, here, need);
        let Some(path) = self.path_of_item(number) else {
            let fits = |list: &Value| list.get(at).is_some_and(|value| !is_wrong(at, value));
            needs.extend(self.ask_in_expression(number, here, need, &fits));
            return;
        };
        self.ask_for(&path, at, need, step, needs);
        let others = items.unwrap_or_default().iter().enumerate().skip(at + 1);
        for (place, value) in others.take(ITEMS_TRIED_MAX) {
            if needs.len() >= ITEMS_NAMED_MAX {
                return;
            }
            let names = with(place, value);
            let Some(lack) = failing(&names) else { continue };
            for need in lack.block_in(&names).needs {
                if in_context(&need.pointer).is_some_and(|(name, _)| name == item) {
                    self.ask_for(&path, place, whole(place, value, need), step, needs);
                }
            }
        }
    }

    /// Adds what is needed of one item. Where this call brought the list, only the item is asked for;
    /// otherwise the whole value of the top-level name, since contexts are merged by those.
    fn ask_for(&self, list: &str, at: usize, mut need: Need, step: &Step, needs: &mut Vec<Need>) {
        let path = format!("{list}.{at}");
        let rest = in_context(&need.pointer).map(|(_, rest)| rest).unwrap_or_default();
        need.pointer = format!("{}{rest}", lack::pointer(&path));
        let item = names(step).1.unwrap_or_default();
        let reason = need.message.replace("; send it in `context`", "");
        need.message =
            format!("item {at} of `{list}`, which is `{item}` in `{}`: {reason}", step.id);
        if find(&self.facts, &path).is_some() {
            if !needs.iter().any(|other| other.pointer == need.pointer) {
                needs.push(need);
            }
            return;
        }
        let (top, below) = path.split_once('.').unwrap_or((list, ""));
        let below = rest.split('/').skip(1).fold(below.to_owned(), |path, part| {
            format!("{path}.{}", part.replace("~1", "/").replace("~0", "~"))
        });
        lack::widen(needs, need, top, &below, &self.context);
    }

    /// What is needed of the names that an expression makes the list of: one that holds the item, with
    /// what the item lacks, or whatever else leads to such an item.
    fn ask_in_expression(
        &self,
        number: usize,
        item: &Value,
        need: Need,
        fits: &dyn Fn(&Value) -> bool,
    ) -> Vec<Need> {
        let source = self.frame(number).and_then(|(step, _)| list_of(step));
        if let Some(Source::Cel(source)) = source {
            let outside = self.outside(number);
            if let Some(example) = &need.example
                && let Some((name, list)) = list_with(source, &outside, item, example, fits)
            {
                return vec![Need {
                    pointer: lack::step("/context", &name),
                    schema: Some(json!({ "type": "array" })),
                    example: Some(list),
                    got: outside.get(&name).map(schema::cut),
                    ..need
                }];
            }
            let found =
                unfit(source, &outside, need.message.clone(), fits).block_in(&outside).needs;
            if found.iter().all(|need| need.example.is_some()) {
                return found;
            }
        }
        // Nothing that a call brings can change it.
        vec![Need { pointer: "/context".to_owned(), example: None, schema: None, ..need }]
    }

    /// The path of the list of a loop or map in the context that the caller sends.
    fn path_of_item(&self, number: usize) -> Option<String> {
        let (step, _) = self.frame(number)?;
        let path = list_of(step)?.path()?;
        let top = root(&path);
        let Some(outer) = self.item_frame(top, number) else {
            return (!self.is_own_name(top, number)).then_some(path);
        };
        let at = match self.frame(outer)?.1 {
            Inside::Loop(rounds) => rounds.round as usize,
            Inside::Map(items) => items.results.len(),
            _ => return None,
        };
        let list = self.path_of_item(outer)?;
        Some(format!("{list}.{at}{}", &path[top.len()..]))
    }

    /// The names outside of a loop or map, with what this call brought.
    fn outside(&self, number: usize) -> Object {
        let Some((step, inside)) = self.frame(number) else { return Object::new() };
        let mut outside = match inside {
            Inside::Map(items) => items.outer.clone(),
            _ => self.context_of(number).clone(),
        };
        if let Inside::Loop(rounds) = inside {
            let own = super::own_names(step);
            outside.retain(|name, _| !own.contains(&name.as_str()));
            outside.extend(rounds.shadowed.clone());
        }
        let facts = self.facts.iter().filter(|(name, _)| !self.is_own_name(name, number));
        outside.extend(facts.map(|(name, value)| (name.clone(), value.clone())));
        outside
    }

    /// The context that the steps of a frame have.
    pub(super) fn context_of(&self, number: usize) -> &Object {
        let inner = self.walk.frames.iter().skip(number + 1);
        let mut kept = inner.filter_map(|frame| match &frame.inside {
            Inside::Nested { outer } => outer.as_ref(),
            Inside::Map(items) => Some(&items.outer),
            _ => None,
        });
        kept.next().unwrap_or(&self.context)
    }
}

/// A name that an expression reads, and the list to put there so that the expression gives one that
/// fits: the list that is there with the item replaced, or one of nothing but such items.
fn list_with(
    source: &str,
    outside: &Object,
    item: &Value,
    example: &Value,
    fits: &dyn Fn(&Value) -> bool,
) -> Option<(String, Value)> {
    let reads = reads(source);
    let mut names: Vec<String> =
        reads.paths().iter().map(|(path, _)| root(path).to_owned()).collect();
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

/// Where a loop or a map has its list from.
fn list_of(step: &Step) -> Option<&Source> {
    match &step.kind {
        StepKind::Loop(Loop { over: LoopOver::Each { list, .. }, .. }) => Some(list),
        StepKind::Map(map) => Some(&map.list),
        _ => None,
    }
}
