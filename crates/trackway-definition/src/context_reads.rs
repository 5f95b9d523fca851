//! What a template or an expression reads from the context, and what to send if it has no value.
//!
//! The syntax shows which parts of a value are read; its type is found by trying values.

use serde_json::{Value, json};
use trackway_domain::Object;

use crate::context_error::{
    ContextError, ExpectedType, find_context_value, put_value_at_path, top_level_name,
};
use crate::value_shape::{ContextPath, ValueShape};

/// Naming more at once does not help; the next attempt names the rest.
/// Limit (Definitions): missing facts that are named at once.
const NAMES_MAX: usize = 16;

/// Values that are tried one by one. For more reads, trying takes too long.
/// Limit (Definitions): facts whose values are tried one by one.
const TRIED_MAX: usize = 8;

/// Every name that is read, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContextReads {
    names: Vec<(String, ValueShape)>,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvaluationError {
    /// A text for people.
    pub(crate) reason: String,
    /// The path that is not set, if the reason names one.
    pub(crate) unset: Option<String>,
}

/// The result of a trial with a context.
pub(crate) type Trial<'t> = &'t dyn Fn(&Object) -> Result<(), EvaluationError>;

/// Values of every kind, the most common first.
fn sample_values_of_each_type() -> [Value; 8] {
    [json!("…"), json!(1), json!(true), json!(["…"]), json!([1]), json!(1.5), json!([]), json!({})]
}

impl ContextReads {
    /// The shape of what is read at a path.
    pub(crate) fn shape_at_path_mut(
        &mut self,
        ContextPath { name, segments: steps }: &ContextPath,
    ) -> &mut ValueShape {
        let index = self.names.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.names.push((name.clone(), ValueShape::default()));
            self.names.len() - 1
        });
        self.names[index].1.get_or_insert_shape_at(steps)
    }

    /// Removes the reads of one name.
    pub(crate) fn remove_name(&mut self, name: &str) -> Option<ValueShape> {
        let index = self.names.iter().position(|(known, _)| known == name)?;
        Some(self.names.remove(index).1)
    }

    /// Adds the reads of something else.
    pub(crate) fn merge_reads(&mut self, other: Self) {
        for (name, shape) in other.names {
            self.shape_at_path_mut(&ContextPath::from_context_name(&name)).merge_shape(shape);
        }
    }

    pub(crate) fn first_read_path(&self) -> Option<String> {
        self.read_paths().into_iter().next().map(|(path, _)| path)
    }

    /// The part of a context that is read.
    pub(crate) fn select_read_names(&self, context: &Object) -> Object {
        let read = self.names.iter().filter_map(|(name, _)| context.get_key_value(name));
        read.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What to send after a failure with a context, if it can be found.
    pub(crate) fn find_context_error(
        mut self,
        failure: &EvaluationError,
        context: &Object,
        try_context: Trial<'_>,
    ) -> Option<ContextError> {
        self.infer_types_by_trial(context, try_context);
        self.find_missing_names_error(failure, context, try_context)
            .or_else(|| self.find_invalid_value_error(failure, context, try_context))
    }

    /// The names that are not set. Each next one is found after an example is put under those before.
    fn find_missing_names_error(
        &self,
        failure: &EvaluationError,
        context: &Object,
        try_context: Trial<'_>,
    ) -> Option<ContextError> {
        let mut trial = context.clone();
        let mut failure = failure.clone();
        let mut found: Vec<(String, ExpectedType)> = Vec::new();
        while found.len() < NAMES_MAX
            && let Some((name, shape)) = self.next_missing_path(&failure, &trial, try_context)
        {
            set_context_path(&mut trial, &name, shape.example_value());
            found.push((name, ExpectedType::Shape(Box::new(shape.clone())).simplify_leaf_shape()));
            match try_context(&trial) {
                Ok(()) => break,
                Err(next) => failure = next,
            }
        }
        let mut found = found.into_iter();
        let (name, expected) = found.next()?;
        Some(ContextError::Missing { name, expected, others: found.collect() })
    }

    /// The name to set first: the one that the failure names, or else one that makes a difference.
    fn next_missing_path(
        &self,
        failure: &EvaluationError,
        context: &Object,
        try_context: Trial<'_>,
    ) -> Option<(String, &ValueShape)> {
        let unset = self.unset_read_paths(context);
        let named = failure.unset.as_ref().and_then(|named| {
            let above = |path: &str| {
                named == path || named.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
            };
            unset.iter().find(|(path, _)| above(path))
        });
        let matters = |(path, shape): &&(String, &ValueShape)| {
            let mut trial = context.clone();
            set_context_path(&mut trial, path, shape.example_value());
            try_context(&trial).as_ref().err() != Some(failure)
        };
        let all = || {
            let whole = self.fill_context_with_examples(context);
            unset.first().filter(|_| try_context(&whole).is_ok())
        };
        named
            .or_else(|| unset.iter().take(NAMES_MAX).find(matters))
            .or_else(all)
            .map(|(path, shape)| (path.clone(), *shape))
    }

    /// What is read and not set: a name, or a part of a value.
    fn unset_read_paths(&self, context: &Object) -> Vec<(String, &ValueShape)> {
        let mut found = Vec::new();
        for (name, shape) in &self.names {
            match context.get(name) {
                Some(value) => shape.collect_missing_parts(name, value, &mut found),
                None => found.push((name.clone(), shape)),
            }
        }
        found
    }

    fn fill_context_with_examples(&self, context: &Object) -> Object {
        let mut whole = context.clone();
        for (path, shape) in self.unset_read_paths(context) {
            set_context_path(&mut whole, &path, shape.example_value());
        }
        whole
    }

    /// A name whose value cannot be used, with one that would work. If several have to change, it is the
    /// first of them.
    fn find_invalid_value_error(
        &self,
        failure: &EvaluationError,
        context: &Object,
        try_context: Trial<'_>,
    ) -> Option<ContextError> {
        let wrong = |path: &str, example: Value, shape: &ValueShape| {
            let got = find_context_value(context, path).or_else(|| context.get(top_level_name(path)));
            ContextError::Invalid {
                reason: failure.reason.clone(),
                got: got.cloned(),
                name: Some(path.to_owned()),
                expected: ExpectedType::expected_type_from_example(example, shape),
            }
        };
        let whole = self.fill_context_with_examples(context);
        let paths = self.read_paths();
        for (path, shape) in paths.iter().take(TRIED_MAX) {
            let completed =
                find_context_value(context, path).map(|value| shape.fill_missing_with_examples(value));
            let own = completed.into_iter().chain([shape.example_value()]);
            let others = sample_values_of_each_type().into_iter().filter(|_| shape.is_leaf_shape());
            for value in own.chain(others) {
                let mut trial = whole.clone();
                set_context_path(&mut trial, path, value.clone());
                if try_context(&trial).is_ok() {
                    return Some(wrong(path, value, shape));
                }
            }
        }
        self.find_invalid_value_group(context, try_context)
            .map(|(path, value, shape)| wrong(&path, value, shape))
    }

    /// The first of several values that have to be changed together.
    fn find_invalid_value_group(
        &self,
        context: &Object,
        try_context: Trial<'_>,
    ) -> Option<(String, Value, &ValueShape)> {
        let paths: Vec<_> = self.read_paths().into_iter().take(TRIED_MAX).collect();
        let works = |changes: &[(String, Value, &ValueShape)]| {
            let mut trial = self.fill_context_with_examples(context);
            changes.iter().for_each(|(path, value, _)| set_context_path(&mut trial, path, value.clone()));
            try_context(&trial).is_ok()
        };
        for kind in sample_values_of_each_type() {
            let open = |shape: &ValueShape| shape.is_leaf_shape() && shape.expected == ExpectedType::Anything;
            let value = |shape: &ValueShape| if open(shape) { kind.clone() } else { shape.example_value() };
            let each = paths.iter().map(|(path, shape)| (path.clone(), value(shape), *shape));
            let mut changes: Vec<_> = each.collect();
            if works(&changes) {
                // A value that need not change stays as it is.
                for (path, _) in &paths {
                    let fewer: Vec<_> = changes.iter().filter(|(other, ..)| other != path).cloned().collect();
                    if works(&fewer) {
                        changes = fewer;
                    }
                }
                return changes.into_iter().next();
            }
        }
        None
    }

    pub(crate) fn read_paths(&self) -> Vec<(String, &ValueShape)> {
        let mut found = Vec::new();
        self.names.iter().for_each(|(name, shape)| shape.collect_field_paths(name, &mut found));
        found
    }

    /// Finds by trying what the values have to be if the syntax does not say: first any value that gives a
    /// result, then whether other values work as well.
    fn infer_types_by_trial(&mut self, context: &Object, try_context: Trial<'_>) {
        let open = self.untyped_parts_mut().len();
        let works = |reads: &Self| try_context(&reads.fill_context_with_examples(context)).is_ok();
        if !works(self) {
            let with = |which: &dyn Fn(usize) -> bool, expected: &ExpectedType| {
                let mut reads = self.clone();
                let open = reads.untyped_parts_mut().into_iter().enumerate();
                open.filter(|(index, _)| which(*index)).for_each(|(_, open)| *open = expected.clone());
                works(&reads).then_some(reads)
            };
            let likes: Vec<ExpectedType> =
                sample_values_of_each_type().into_iter().map(ExpectedType::Example).collect();
            let one = |expected: &ExpectedType| {
                (0..open.min(TRIED_MAX)).find_map(|index| with(&|other| other == index, expected))
            };
            let found = likes.iter().find_map(|expected| one(expected).or_else(|| with(&|_| true, expected)));
            let Some(found) = found else { return };
            *self = found;
        }
        let mut narrow = Vec::new();
        for index in 0..self.untyped_parts_mut().len().min(TRIED_MAX) {
            let fails = sample_values_of_each_type().into_iter().chain([Value::Null]).any(|kind| {
                let mut reads = self.clone();
                *reads.untyped_parts_mut()[index] = ExpectedType::Example(kind);
                !works(&reads)
            });
            narrow.push(fails);
        }
        let open = self.untyped_parts_mut().into_iter().zip(narrow);
        open.filter(|(_, narrow)| *narrow).for_each(|(open, _)| *open = ExpectedType::Text);
    }

    fn untyped_parts_mut(&mut self) -> Vec<&mut ExpectedType> {
        self.names.iter_mut().flat_map(|(_, shape)| shape.unknown_types_mut()).collect()
    }
}

fn set_context_path(context: &mut Object, path: &str, value: Value) {
    let mut whole = Value::Object(std::mem::take(context));
    put_value_at_path(&mut whole, path, value);
    if let Value::Object(whole) = whole {
        *context = whole;
    }
}

#[cfg(test)]
mod tests;
