//! Artifacts: parts of an output that are known by their kind.

use std::borrow::Cow;

use serde_json::{Value, json};
use trackway_domain::Need;

use crate::model::{Assessment, Form, Prompt};
use crate::{assessment, choice, schema};

/// The place of the artifacts in a call's arguments.
const ARTIFACTS: &str = "/output/artifacts";

/// An artifact that a step asks for.
pub(super) struct Wanted<'a> {
    pub(super) required: bool,
    kind: &'a str,
    schema: Value,
    example: Value,
    judged: Option<Judged<'a>>,
}

/// An artifact that is a judgement, which says by its id which one.
struct Judged<'a> {
    assessment: &'a Assessment,
    /// No other judgement is asked for, so that it may do without its id.
    only: bool,
}

pub(super) fn wanted(prompt: &Prompt) -> Vec<Wanted<'_>> {
    let only = prompt.assessments.len() == 1;
    let judged = prompt.assessments.iter().map(|assessment| Wanted {
        required: true,
        kind: assessment::KIND,
        schema: assessment::schema(assessment, only),
        example: assessment::example(assessment),
        judged: Some(Judged { assessment, only }),
    });
    let contract = prompt.output.as_ref().and_then(|contract| match &contract.form {
        // The step's own assessments say more than the contract of any assessment.
        Form::Artifact { kind, .. }
            if kind == assessment::KIND && !prompt.assessments.is_empty() =>
        {
            None
        }
        Form::Artifact { kind, schema, example } => Some(Wanted {
            required: contract.required,
            kind,
            schema: with_kind(schema, kind),
            example: kind_in(example, kind),
            judged: None,
        }),
        Form::Whole { .. } => None,
    });
    contract.into_iter().chain(judged).collect()
}

impl Wanted<'_> {
    /// Whether there is one of these, be it right or wrong.
    pub(super) fn is_among(&self, artifacts: &[Value]) -> bool {
        self.places(artifacts).next().is_some()
    }

    /// What is wrong with those there are.
    pub(super) fn wrong(&self, artifacts: &[Value]) -> Vec<Need> {
        let needs = self.places(artifacts).flat_map(|(place, artifact)| {
            let at = format!("{ARTIFACTS}/{place}");
            match &self.judged {
                Some(judged) => assessment::needs(judged.assessment, artifact, &at),
                None => {
                    let needs = schema::needs(&self.schema, artifact, &at, Some(&self.example));
                    needs.into_iter().map(|need| self.undecided(need, &at)).collect()
                }
            }
        });
        needs.collect()
    }

    /// A need that makes no choice for the agent: where the contract's own example leaves one open, the
    /// schema names the choices.
    fn undecided(&self, mut need: Need, at: &str) -> Need {
        let shown = need.pointer.strip_prefix(at).and_then(|place| self.example.pointer(place));
        match shown {
            Some(open) if choice::choices(open).is_some() => need.example = None,
            Some(open) if choice::is_open(open) => need.example = Some(open.clone()),
            _ => {}
        }
        need
    }

    /// What to append so that there is one.
    pub(super) fn need(&self, place: usize) -> Need {
        Need {
            pointer: format!("{ARTIFACTS}/{place}"),
            message: format!("An artifact of kind `{}` is missing{}", self.kind, self.which()),
            schema: Some(self.schema.clone()),
            example: Some(self.example.clone()),
            got: None,
        }
    }

    fn which(&self) -> Cow<'static, str> {
        match &self.judged {
            Some(judged) => format!(", for the assessment `{}`", judged.assessment.id).into(),
            None => "".into(),
        }
    }

    fn places<'v>(&self, artifacts: &'v [Value]) -> impl Iterator<Item = (usize, &'v Value)> {
        artifacts.iter().enumerate().filter(|(_, artifact)| {
            let is_kind = artifact.get("kind").is_some_and(|kind| kind == self.kind);
            is_kind
                && self.judged.as_ref().is_none_or(|judged| {
                    judged.only
                        || artifact
                            .get("assessmentId")
                            .is_some_and(|id| *id == *judged.assessment.id)
                })
        })
    }
}

/// The need for the whole list.
pub(super) fn all(wanted: &[Wanted<'_>], got: Option<&Value>) -> Need {
    let kinds: Vec<String> = wanted.iter().map(|wanted| format!("`{}`", wanted.kind)).collect();
    Need {
        pointer: ARTIFACTS.to_owned(),
        message: format!("The step asks for artifacts of kind {}", kinds.join(", ")),
        schema: Some(list(wanted)),
        example: Some(examples(wanted)),
        got: got.map(schema::cut),
    }
}

pub(super) fn examples(wanted: &[Wanted<'_>]) -> Value {
    wanted.iter().map(|wanted| wanted.example.clone()).collect()
}

/// The schema of an output with these artifacts.
pub(super) fn schema(wanted: &[Wanted<'_>]) -> Value {
    json!({
        "type": "object",
        "properties": { "artifacts": list(wanted) },
        "required": ["artifacts"],
    })
}

fn list(wanted: &[Wanted<'_>]) -> Value {
    match wanted {
        [only] => json!({ "type": "array", "contains": only.schema }),
        several => {
            let all: Vec<Value> =
                several.iter().map(|wanted| json!({ "contains": wanted.schema })).collect();
            json!({ "type": "array", "allOf": all })
        }
    }
}

/// An artifact's schema, with its kind in it.
fn with_kind(schema: &Value, kind: &str) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        _ => {
            return json!({ "type": "object", "properties": { "kind": { "const": kind } }, "required": ["kind"] });
        }
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    if let Some(properties) =
        schema.entry("properties").or_insert_with(|| json!({})).as_object_mut()
    {
        properties.entry("kind").or_insert_with(|| json!({ "const": kind }));
    }
    if let Some(required) = schema.entry("required").or_insert_with(|| json!([])).as_array_mut()
        && !required.iter().any(|name| name == "kind")
    {
        required.insert(0, json!("kind"));
    }
    Value::Object(schema)
}

fn kind_in(example: &Value, kind: &str) -> Value {
    let mut example = example.clone();
    match example.as_object_mut() {
        Some(object) => {
            object.entry("kind").or_insert_with(|| json!(kind));
            example
        }
        None => json!({ "kind": kind }),
    }
}
