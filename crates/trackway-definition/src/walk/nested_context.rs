//! The initial context of a nested workflow, and whether it fits that workflow's `input`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{BlockReason, InputRequirement, Object};

use super::Walker;
use crate::{
    cel_expression::expression_name_path,
    context_error::{self, split_context_pointer},
    model::NestedWorkflow,
    schema_validation,
};

impl Walker<'_> {
    /// The inner context; none if it is the same as the outer one.
    pub(super) fn build_nested_context(
        &mut self,
        nested: &NestedWorkflow,
    ) -> Result<Option<Object>, BlockReason> {
        // What this call sent for inner names. See [`Walker::sent_facts`].
        let mut brought = Object::new();
        loop {
            let mut inner = match &nested.context {
                Some(values) => Some(self.resolve_value_expressions(values)?),
                None => None,
            };
            inner.iter_mut().for_each(|inner| inner.extend(brought.clone()));
            let Some(input) = &nested.input else { return Ok(inner) };
            let checked = match &inner {
                Some(inner) => schema_validation::check_context_against_schema(input, inner),
                None => schema_validation::check_context_against_schema(
                    input,
                    &context_restricted_to_schema(input, &self.context),
                ),
            };
            let Err(block) = checked else { return Ok(inner) };
            // Each turn uses one of the facts, so this ends.
            if !self.apply_sent_fact_to_nested(&block, nested, &mut brought) {
                return Err(self.translate_block_to_outer_context(block, nested, inner.as_ref()));
            }
        }
    }

    /// Applies what this call sent for a need of the inner context. Returns whether there was anything.
    fn apply_sent_fact_to_nested(
        &mut self,
        block: &BlockReason,
        nested: &NestedWorkflow,
        nested_context: &mut Object,
    ) -> bool {
        for need in &block.needs {
            let Some((name, _)) = split_context_pointer(&need.pointer) else { continue };
            if let Some(outer) =
                nested.context.as_ref().and_then(|values| outer_name_for_inner(values, &name))
            {
                let root = context_error::top_level_name(&outer);
                if let Some(fact) = self.sent_facts.get(root)
                    && self.context.get(root) != Some(fact)
                {
                    self.context.insert(root.to_owned(), fact.clone());
                    return true;
                }
            }
            let target = if nested.context.is_some() { &mut *nested_context } else { &mut self.context };
            if let Some(fact) = self.sent_facts.get(&name)
                && target.get(&name) != Some(fact)
            {
                target.insert(name, fact.clone());
                return true;
            }
        }
        false
    }

    /// The block in terms of the caller, which sends names of the outer context. An inner name that is mapped
    /// from an outer one is requested there. Any other is requested under its own name, because a value under
    /// it is used.
    fn translate_block_to_outer_context(
        &self,
        mut block: BlockReason,
        nested: &NestedWorkflow,
        inner: Option<&Object>,
    ) -> BlockReason {
        for need in &mut block.needs {
            let Some((name, rest)) = split_context_pointer(&need.pointer) else { continue };
            let outer = nested.context.as_ref().and_then(|values| outer_name_for_inner(values, &name));
            let (context, at) = match &outer {
                Some(outer) => (&self.context, context_error::context_argument_pointer(outer)),
                None => (inner.unwrap_or(&self.context), context_error::child_pointer("/context", &name)),
            };
            need.message = match &outer {
                Some(outer) => format!(
                    "the workflow `{}` needs `{name}`, which is `{outer}` here: {}",
                    nested.workflow, need.message
                ),
                None => format!("the workflow `{}`: {}", nested.workflow, need.message),
            };
            need.pointer = format!("{at}{rest}");
            widen_need_to_top_level_name(need, context);
        }
        if let Some(first) = block.needs.first() {
            block.message.clone_from(&first.message);
        }
        block
    }
}

/// Contexts are merged by their top-level names, so a part of a value is sent with the rest of it.
fn widen_need_to_top_level_name(need: &mut InputRequirement, context: &Object) {
    let Some((root, rest)) = split_context_pointer(&need.pointer) else { return };
    let Some(example) = need.example.as_ref().filter(|_| !rest.is_empty()) else { return };
    let there = context.get(&root).cloned().unwrap_or_else(|| json!({}));
    if let Some(whole) = context_error::edit_value_if_small(there, |whole| {
        schema_validation::put_value_at_pointer(whole, &rest, example.clone())
    }) {
        need.pointer = context_error::child_pointer("/context", &root);
        need.schema = Some(json!({}));
        need.example = Some(whole);
        need.got = context.get(&root).map(schema_validation::truncate_value_for_display);
    }
}

/// The part of a context that a schema describes. If the context is shared with the outer steps, it contains
/// their names too, and a schema that allows no other names is not about those.
fn context_restricted_to_schema(schema: &Value, context: &Object) -> Object {
    let names = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.get("patternProperties").is_none();
    let concerns = |name: &str| !closed || names.is_some_and(|names| names.contains_key(name));
    let entries = context.iter().filter(|(name, _)| concerns(name));
    entries.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The outer name that an inner one is mapped from, if it is only a name.
fn outer_name_for_inner(values: &BTreeMap<String, Value>, name: &str) -> Option<String> {
    let source = values.get(name)?.as_str()?.strip_prefix('=')?;
    expression_name_path(source)
}
