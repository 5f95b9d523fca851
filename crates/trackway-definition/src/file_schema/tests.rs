//! The schema is valid, and agrees with the reader.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::read::tests::corpus;
use crate::{FileFormat, located_text, parse_definition_draft};

const EXAMPLES: [&str; 3] = [
    include_str!("../../schema/examples/smallest.yaml"),
    include_str!("../../schema/examples/review.yaml"),
    include_str!("../../schema/examples/release.yaml"),
];

fn validator() -> Validator {
    let schema = super::definition_file_schema();
    jsonschema::meta::validate(&schema).expect("the schema is one");
    jsonschema::validator_for(&schema).expect("the schema can be used")
}

fn examples() -> impl Iterator<Item = Value> {
    EXAMPLES.into_iter().map(|text| {
        let mut value =
            located_text::parse_located(text, FileFormat::Yaml).expect("an example is YAML").value;
        value["trackway"] = json!(1);
        value
    })
}

fn accepts(validator: &Validator, value: &Value) -> Result<(), String> {
    let told: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error:.300}", error.instance_path()))
        .collect();
    if told.is_empty() { Ok(()) } else { Err(told.join("\n")) }
}

/// Proves T9: the published schema is valid, names its source, and explains every key.
#[test]
fn the_schema_is_a_schema_and_speaks_to_authors() {
    let schema = super::definition_file_schema();
    validator();
    assert_eq!(schema["$id"], "https://trackway.dev/schemas/definition/v1");
    for (key, says) in schema["properties"].as_object().expect("properties") {
        let described = says.get("description").is_some()
            || says["$ref"].as_str().is_some_and(|place| {
                schema.pointer(&place[1..]).is_some_and(|there| there.get("description").is_some())
            });
        assert!(described, "{key} says nothing");
    }
}

/// Proves T9: the features of the format fit the schema, and the strict reader accepts them.
#[test]
fn the_examples_fit_the_schema_and_the_reader() {
    let validator = validator();
    for value in examples() {
        accepts(&validator, &value).expect("it fits");
        let draft = parse_definition_draft(&value.to_string(), FileFormat::Json);
        assert!(draft.is_ok(), "{draft:?}");
    }
}

/// Proves T9: the schema and the strict reader know each key at the same pointers.
#[test]
fn an_unknown_key_is_refused_by_both_or_by_none() {
    let validator = validator();
    for value in examples() {
        // What is inside a JSON Schema is not checked here.
        let is_schema = |place: &str| place.contains("/schema/") || place.starts_with("/input/");
        for place in objects(&value).into_iter().filter(|place| !is_schema(place)) {
            let mut changed = value.clone();
            changed.pointer_mut(&place).expect("it is there")["unexpected"] = json!("1");
            agree(&validator, &changed, &place);
        }
    }
}

/// Proves T9: an editor marks no file as wrong that the strict reader accepts.
#[test]
fn the_schema_refuses_nothing_that_the_reader_takes() {
    let validator = validator();
    let others = [json!(null), json!(true), json!(7), json!("text"), json!([]), json!({})];
    let mut wrong = Vec::new();
    for value in examples() {
        for (index, place) in pointers_inside(&value, "").iter().enumerate() {
            // Two of them for each pointer: all pointers together cover them all, and it is three times
            // faster.
            for other in [&others[index % others.len()], &others[(index + 1) % others.len()]] {
                let mut changed = value.clone();
                *changed.pointer_mut(place).expect("it is there") = other.clone();
                if parse_definition_draft(&changed.to_string(), FileFormat::Json).is_ok()
                    && let Err(why) = accepts(&validator, &changed)
                {
                    wrong.push(format!("{place} = {other}: {why}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Proves T9: files in WorkRail's form follow this format, apart from the keys that an inspection lists.
#[test]
fn corpus_files_fit_the_schema_apart_from_what_nothing_acts_on() {
    let validator = validator();
    corpus::for_each_file(|file, definition| {
        let located = located_text::parse_located(&file.text, file.format).expect("it was read");
        let mut value = located.value;
        for unheeded in &definition.unsupported {
            // The others are about the value of a key, not about the key.
            if unheeded.message.ends_with("nothing acts on it") {
                remove(&mut value, &unheeded.path);
            }
        }
        accepts(&validator, &value)
    });
}

/// The schema and the strict reader agree about a value.
fn agree(validator: &Validator, value: &Value, place: &str) {
    let told = accepts(validator, value);
    let draft = parse_definition_draft(&value.to_string(), FileFormat::Json);
    assert_eq!(told.is_ok(), draft.is_ok(), "{place}: {told:?} and {draft:?}");
}

/// Pointers of everything in a value, except itself.
fn pointers_inside(value: &Value, path: &str) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(entries) => {
            entries.iter().map(|(key, entry)| (key.replace('~', "~0").replace('/', "~1"), entry)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for (token, entry) in inner {
        let path = format!("{path}/{token}");
        found.extend(pointers_inside(entry, &path));
        found.push(path);
    }
    found
}

fn objects(value: &Value) -> Vec<String> {
    let mut found = pointers_inside(value, "");
    found.push(String::new());
    found.retain(|place| value.pointer(place).is_some_and(Value::is_object));
    found
}

fn remove(value: &mut Value, place: &str) {
    let (around, token) = place.rsplit_once('/').expect("a place inside");
    match value.pointer_mut(around) {
        Some(Value::Object(entries)) => drop(entries.remove(token)),
        // An item of a list keeps its index, so that the indexes after it stay.
        Some(Value::Array(_)) | None => {}
        Some(other) => panic!("{place} is in {other}"),
    }
}
