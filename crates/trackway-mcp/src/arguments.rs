//! The arguments of a call, checked by us. A refusal lists each mistake as data, with the name that was
//! probably meant.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_definition::nearest_known_word;
use trackway_domain::{InputRequirement, Object, normalize_integers};

use crate::{refusal::ToolRefusal, text};

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ToolParameter {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: ToolParameterType,
    #[serde(default)]
    pub(crate) required: bool,
    pub(crate) description: String,
    pub(crate) example: Value,
}

/// The JSON type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolParameterType {
    String,
    Object,
}

impl ToolParameterType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Object => "object",
        }
    }

    fn matches_value_type(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Object => value.is_object(),
        }
    }
}

impl ToolParameter {
    pub(crate) fn to_json_schema(&self) -> Value {
        json!({ "type": self.kind, "description": self.description })
    }

    fn requirement_with_example(&self, message: String, received: Option<Value>) -> InputRequirement {
        InputRequirement {
            pointer: format!("/{}", self.name),
            message,
            schema: Some(self.to_json_schema()),
            example: Some(self.example.clone()),
            got: received,
        }
    }
}

/// Arguments whose names and types fit the tool. A null counts as absent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckedToolArguments(Object);

impl CheckedToolArguments {
    pub(crate) fn parse_checked_arguments(
        tool: &str,
        parameters: &[ToolParameter],
        raw: Option<Value>,
    ) -> Result<Self, ToolRefusal> {
        let mut given = match raw {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(given)) => given,
            Some(other) => {
                let need = InputRequirement {
                    pointer: String::new(),
                    message: "the arguments must be one JSON object".to_owned(),
                    schema: Some(json!({ "type": "object" })),
                    example: Some(example_arguments(parameters)),
                    got: Some(truncate_echoed_value(other)),
                };
                return Err(ToolRefusal::invalid_arguments_refusal(tool, vec![need]));
            }
        };
        given.retain(|_, value| !value.is_null());
        given.values_mut().for_each(normalize_integers);
        let mut needs = Vec::new();
        for (name, value) in &given {
            match parameters.iter().find(|parameter| parameter.name == *name) {
                None => needs.push(unknown_parameter_requirement(parameters, name, value)),
                Some(parameter) if !parameter.kind.matches_value_type(value) => {
                    needs.push(wrong_type_requirement(parameter, value));
                }
                Some(_) => {}
            }
        }
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            if !given.contains_key(&parameter.name) {
                needs
                    .push(parameter.requirement_with_example(format!("{} is missing", parameter.name), None));
            }
        }
        if needs.is_empty() {
            Ok(Self(given))
        } else {
            Err(ToolRefusal::invalid_arguments_refusal(tool, needs))
        }
    }

    pub(crate) fn take_string_argument(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn take_object_argument(&mut self, name: &str) -> Option<Object> {
        match self.0.remove(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }
}

/// Characters of a wrong argument that a refusal repeats: enough to recognise it.
/// Limit (MCP): wrong argument that a refusal repeats.
const ECHOED_CHARS_MAX: usize = 200;

/// The wrong argument, shortened for the refusal. It may be large.
pub(crate) fn truncate_echoed_value(value: Value) -> Value {
    let shown = value.to_string();
    if shown.len() <= ECHOED_CHARS_MAX {
        return value;
    }
    text::truncate_chars(&shown, ECHOED_CHARS_MAX).into()
}

fn example_arguments(parameters: &[ToolParameter]) -> Value {
    let required = parameters.iter().filter(|parameter| parameter.required);
    required.map(|parameter| (parameter.name.clone(), parameter.example.clone())).collect()
}

fn unknown_parameter_requirement(
    parameters: &[ToolParameter],
    name: &str,
    value: &Value,
) -> InputRequirement {
    let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let message = match suggest_similar_name(name, names.iter().copied()) {
        Some(meant) => format!("there is no parameter {name:?}; did you mean {meant:?}?"),
        None => {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("there is no parameter {name:?}; leave it out (there are: {known})")
        }
    };
    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    InputRequirement {
        pointer,
        message,
        got: Some(truncate_echoed_value(value.clone())),
        ..InputRequirement::default()
    }
}

fn wrong_type_requirement(parameter: &ToolParameter, value: &Value) -> InputRequirement {
    let (name, wanted) = (&parameter.name, parameter.kind.as_str());
    let is_text_of_object = parameter.kind == ToolParameterType::Object
        && value
            .as_str()
            .is_some_and(|text| serde_json::from_str::<Value>(text).is_ok_and(|inner| inner.is_object()));
    let message = if is_text_of_object {
        format!("{name} must be a JSON object; send the object itself, not its text in quotes")
    } else {
        format!("{name} must be of type {wanted}")
    };
    parameter.requirement_with_example(message, Some(truncate_echoed_value(value.clone())))
}

/// Letters that a part of a name needs before it can identify the name.
const NAME_PART_CHARS_MIN: usize = 2;

/// The known name that was probably meant: the same letters in another style, a name with one typing error,
/// or a part that only one name contains.
pub(crate) fn suggest_similar_name<'a>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let known: Vec<&str> = candidates.into_iter().collect();
    if let Some(name) = nearest_known_word(unknown, known.iter().copied()) {
        return Some(name);
    }
    let unknown = plain(unknown);
    let is_part = |part: &str, of: &str| part.len() >= NAME_PART_CHARS_MIN && of.contains(part);
    let mut alike = known.into_iter().filter(|name| {
        let letters = plain(name);
        is_part(&unknown, &letters) || is_part(&letters, &unknown)
    });
    let name = alike.next()?;
    alike.next().is_none().then_some(name)
}

#[cfg(test)]
mod tests;
