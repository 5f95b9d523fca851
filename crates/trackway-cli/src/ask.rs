//! Answers to questions: from a person at the terminal, or as JSON from a program.

use serde_json::{Map, Value};
use trackway::api::Question;
use trackway_domain::Problem;

use crate::{
    form::{self, Field, Form},
    output,
    terminal::Lines,
    text,
};

/// Who answers.
#[derive(Debug)]
pub(crate) enum Asker {
    /// A person, field by field.
    Person(Lines),
    /// A program: one JSON value per line.
    Program(Lines),
    /// Nobody: the run is left waiting.
    Nobody,
}

impl Asker {
    pub(crate) fn new(json: bool) -> Self {
        if json { Self::Program(Lines::default()) } else { Self::Person(Lines::default()) }
    }

    /// An answer to the question; `None` when nobody answers any more.
    pub(crate) async fn ask(&mut self, question: &Question) -> Option<Value> {
        match self {
            Self::Person(lines) => fill(lines, &question.schema, &question.errors).await,
            Self::Program(lines) => one_json(lines).await,
            Self::Nobody => None,
        }
    }

    /// A value for a schema, from a person; `None` where there is nobody to ask.
    pub(crate) async fn fill(&mut self, schema: &Value, problems: &[Problem]) -> Option<Value> {
        match self {
            Self::Person(lines) => fill(lines, schema, problems).await,
            Self::Program(_) | Self::Nobody => None,
        }
    }
}

async fn fill(lines: &mut Lines, schema: &Value, problems: &[Problem]) -> Option<Value> {
    if !problems.is_empty() {
        output::note("That does not fit:");
        text::problems(problems).iter().for_each(|line| output::note(line));
    }
    match Form::of(schema) {
        Form::Fields(fields) => {
            let mut object = Map::new();
            for field in fields {
                if let Some(value) = one_field(lines, &field).await? {
                    object.insert(field.name, value);
                }
            }
            Some(Value::Object(object))
        }
        Form::One(field) => one_field(lines, &field).await?,
        Form::Json => {
            output::note(&format!(
                "  The answer must satisfy this schema: {}",
                text::printable(&schema.to_string())
            ));
            loop {
                output::prompt("  answer (JSON): ");
                match form::json(lines.next().await?.trim()) {
                    Ok(value) => return Some(value),
                    Err(why) => output::note(&format!("  {why}")),
                }
            }
        }
    }
}

/// The field's value, asked for until it can be read: `Some(None)` to leave it out, `None` when nobody
/// answers any more.
async fn one_field(lines: &mut Lines, field: &Field) -> Option<Option<Value>> {
    loop {
        output::prompt(&text::printable(&field.prompt()));
        match field.read(&lines.next().await?) {
            Ok(value) => return Some(value),
            Err(why) => output::note(&format!("  {}", text::printable(&why))),
        }
    }
}

async fn one_json(lines: &mut Lines) -> Option<Value> {
    loop {
        let line = lines.next().await?;
        if line.trim().is_empty() {
            continue;
        }
        match form::json(&line) {
            Ok(value) => return Some(value),
            Err(why) => output::note(&format!("error: an answer cannot be read: {why}")),
        }
    }
}
