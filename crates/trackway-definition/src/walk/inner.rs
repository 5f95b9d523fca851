//! The context that a workflow inside another one begins with, and whether it fits that one's `input`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{Block, Need, Object};

use super::Walker;
use crate::{
    expression::plain_name,
    lack::{self, in_context},
    model::Nested,
    schema,
};

impl Walker<'_> {
    /// The inner context; none where the outer one is the inner one too.
    pub(super) fn inner_context(&mut self, nested: &Nested) -> Result<Option<Object>, Block> {
        // What this call brought for inner names. See [`Walker::facts`].
        let mut brought = Object::new();
        loop {
            let mut inner = match &nested.context {
                Some(values) => Some(self.values(values)?),
                None => None,
            };
            inner.iter_mut().for_each(|inner| inner.extend(brought.clone()));
            let Some(input) = &nested.input else { return Ok(inner) };
            let checked = match &inner {
                Some(inner) => schema::check_context(input, inner),
                None => schema::check_context(input, &concerned(input, &self.context)),
            };
            let Err(block) = checked else { return Ok(inner) };
            // Each turn puts one of the facts in its place, so this ends.
            if !self.bring(&block, nested, &mut brought) {
                return Err(self.asked_outside(block, nested, inner.as_ref()));
            }
        }
    }

    /// Puts in place what this call brought for a need of the inner context; whether there was anything.
    fn bring(&mut self, block: &Block, nested: &Nested, brought: &mut Object) -> bool {
        for need in &block.needs {
            let Some((name, _)) = in_context(&need.pointer) else { continue };
            if let Some(outer) = nested.context.as_ref().and_then(|values| mapped(values, &name)) {
                let root = lack::root(&outer);
                if let Some(fact) = self.facts.get(root)
                    && self.context.get(root) != Some(fact)
                {
                    self.context.insert(root.to_owned(), fact.clone());
                    return true;
                }
            }
            let place = if nested.context.is_some() { &mut *brought } else { &mut self.context };
            if let Some(fact) = self.facts.get(&name)
                && place.get(&name) != Some(fact)
            {
                place.insert(name, fact.clone());
                return true;
            }
        }
        false
    }

    /// The block in the words of the caller, who sends names of the outer context. An inner name that
    /// comes from one of them is asked for there. Any other is asked for under its own name, since what a
    /// call brings under it is used.
    fn asked_outside(&self, mut block: Block, nested: &Nested, inner: Option<&Object>) -> Block {
        for need in &mut block.needs {
            let Some((name, rest)) = in_context(&need.pointer) else { continue };
            let outer = nested.context.as_ref().and_then(|values| mapped(values, &name));
            let (context, at) = match &outer {
                Some(outer) => (&self.context, lack::pointer(outer)),
                None => (inner.unwrap_or(&self.context), lack::step("/context", &name)),
            };
            need.message = match &outer {
                Some(outer) => format!(
                    "the workflow `{}` needs `{name}`, which is `{outer}` here: {}",
                    nested.workflow, need.message
                ),
                None => format!("the workflow `{}`: {}", nested.workflow, need.message),
            };
            need.pointer = format!("{at}{rest}");
            widen(need, context);
        }
        if let Some(first) = block.needs.first() {
            block.message.clone_from(&first.message);
        }
        block
    }
}

/// Contexts are merged by their top-level names, so that a part of one is sent with the rest of it.
fn widen(need: &mut Need, context: &Object) {
    let Some((root, rest)) = in_context(&need.pointer) else { return };
    let Some(example) = need.example.as_ref().filter(|_| !rest.is_empty()) else { return };
    let there = context.get(&root).cloned().unwrap_or_else(|| json!({}));
    if let Some(whole) = lack::whole(there, |whole| schema::put(whole, &rest, example.clone())) {
        need.pointer = lack::step("/context", &root);
        need.schema = Some(json!({}));
        need.example = Some(whole);
        need.got = context.get(&root).map(schema::cut);
    }
}

/// What a schema of a context speaks of. Where the context is shared with the steps outside, their names
/// are in it too, and a schema that allows no others is not about those.
fn concerned(schema: &Value, context: &Object) -> Object {
    let names = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.get("patternProperties").is_none();
    let concerns = |name: &str| !closed || names.is_some_and(|names| names.contains_key(name));
    let entries = context.iter().filter(|(name, _)| concerns(name));
    entries.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The name of the outer context that an inner one is, where it is no more than that.
fn mapped(values: &BTreeMap<String, Value>, name: &str) -> Option<String> {
    let source = values.get(name)?.as_str()?.strip_prefix('=')?;
    plain_name(source)
}
