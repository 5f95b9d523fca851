//! For every file content, reading ends with a definition or with findings.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{corpus, link_alone, with_steps};
use crate::{Definition, FileFormat, parse_definition_draft};

/// Keys of the format, so that odd values are in fields that are read.
const WORDS: &str = "id title prompt type loop body steps condition runCondition var equals and not switch \
    map items workflow templateCall templateId args parallelDelegations outputContract \
    schema example validationCriteria promptBlocks goal ask tool emit set matches";

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}% .()=+\\[-]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "loop",
            "parallel",
            "while",
            "forEach",
            "one",
            "regex",
            "=a",
            "wr.templates.routine.x"
        ])
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 40, 5, |inner| {
        let words: Vec<&str> = WORDS.split(' ').collect();
        let key = prop_oneof![prop::sample::select(words).prop_map(str::to_owned), "[a-z/~]{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

/// Puts a value somewhere into another one.
fn put(place: &mut Value, way: &[prop::sample::Index], value: Value) {
    let Some((index, rest)) = way.split_first() else {
        *place = value;
        return;
    };
    match place {
        Value::Array(items) if !items.is_empty() => {
            let index = index.index(items.len());
            put(&mut items[index], rest, value);
        }
        Value::Object(map) if !map.is_empty() => {
            let index = index.index(map.len());
            put(map.values_mut().nth(index).expect("an entry"), rest, value);
        }
        _ => *place = value,
    }
}

proptest! {
    /// Proves T9: any step, strict and tolerant.
    #[test]
    fn any_step_is_read_or_refused(step in value(), strict in any::<bool>()) {
        let mut text: Value = serde_json::from_str(&with_steps(&json!([step]))).expect("JSON");
        if strict {
            text["trackway"] = json!(1);
        }
        if let Ok(definition) = link_alone(&text.to_string(), FileFormat::Json) {
            let normal = definition.to_canonical_json();
            let pinned = Definition::from_pinned_json(&normal).map(|pinned| pinned.to_canonical_json());
            prop_assert_eq!(pinned, Ok(normal));
        }
    }

    /// Proves T9: a good file with one change.
    #[test]
    fn changed_files_are_read_or_refused(
        file in any::<prop::sample::Index>(),
        way in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        value in value(),
        strict in any::<bool>(),
    ) {
        let files = &corpus::OWN;
        let text = &files[file.index(files.len())].text;
        let mut root: Value = serde_json::from_str(text).expect("JSON");
        put(&mut root, &way, value);
        if strict && root.is_object() {
            root["trackway"] = json!(1);
        }
        if let Ok(draft) = parse_definition_draft(&root.to_string(), FileFormat::Json) {
            let own = draft.clone();
            let _ = draft.link_references(&|_| Some(&own).filter(|own| own.id != draft.id));
            let _ = draft.link_references(&|_| Some(&draft));
        }
    }

    /// Proves T9: any text at all.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", yaml in any::<bool>()) {
        let _ = parse_definition_draft(&text, if yaml { FileFormat::Yaml } else { FileFormat::Json });
    }
}

/// Proves T9: a deeply nested file is pinned and read back, or refused; a small stack is enough.
#[test]
fn deep_files_are_pinned_or_refused() {
    let nested = |levels: usize, wrap: &dyn Fn(usize, Value) -> Value, leaf: Value| {
        (0..levels).fold(leaf, |inner, level| wrap(level, inner))
    };
    let leaf = || json!({ "id": "leaf", "prompt": "x" });
    let round = |level: usize, inner: Value| json!({ "id": format!("l{level}"), "type": "loop", "loop": { "type": "for", "count": 1 }, "body": [inner] });
    let pick = |level: usize, inner: Value| json!({ "id": format!("l{level}"), "switch": [{ "when": "true", "steps": [inner] }] });
    let not = |_: usize, inner: Value| json!({ "not": inner });
    let and = |_: usize, inner: Value| json!({ "and": [inner] });
    let files = move || {
        let mut accepted = 0;
        for levels in 1..46 {
            let condition = nested(levels, &not, json!({ "var": "a" }));
            let rules = nested(levels, &and, condition.clone());
            for step in [
                nested(levels, &round, leaf()),
                nested(levels, &pick, leaf()),
                json!({ "id": "a", "prompt": "x", "runCondition": condition }),
                json!({ "id": "a", "prompt": "x", "validationCriteria": rules }),
                json!({ "id": "a", "prompt": "x", "runCondition": rules }),
            ] {
                if let Ok(definition) = link_alone(&with_steps(&json!([step])), FileFormat::Json) {
                    accepted += 1;
                    assert!(Definition::from_pinned_json(&definition.to_canonical_json()).is_ok());
                }
            }
        }
        accepted
    };
    let thread = std::thread::Builder::new().stack_size(1536 * 1024).spawn(files);
    assert!(thread.expect("a thread").join().expect("no overflow") > 100);
}
