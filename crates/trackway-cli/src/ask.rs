//! Answers to questions: from a person at the terminal, or as JSON from a program.

use serde_json::{Map, Value};
use trackway::api::Question;
use trackway_domain::Problem;

use crate::{
    failure::Failure,
    form::{self, Field, Form},
    layout, output,
    style::{self, OutputMode, Tone},
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
    /// No answers: the run stays waiting.
    Nobody,
}

impl Asker {
    pub(crate) fn new(json: bool) -> Self {
        if json { Self::Program(Lines::default()) } else { Self::Person(Lines::default()) }
    }

    /// An answer to the question; `None` when there are no more answers. Values in `known` are
    /// offered as defaults.
    pub(crate) async fn ask(
        &mut self,
        question: &Question,
        known: &Map<String, Value>,
    ) -> Result<Option<Value>, Failure> {
        match self {
            Self::Person(lines) => fill(lines, &question.schema, known, &question.errors).await,
            Self::Program(lines) => one_json(lines).await,
            Self::Nobody => Ok(None),
        }
    }

    /// A value for a schema, from a person; `None` if there is no person to ask.
    pub(crate) async fn fill(
        &mut self,
        schema: &Value,
        problems: &[Problem],
    ) -> Result<Option<Value>, Failure> {
        match self {
            Self::Person(lines) => fill(lines, schema, &Map::new(), problems).await,
            Self::Program(_) | Self::Nobody => Ok(None),
        }
    }
}

async fn fill(
    lines: &mut Lines,
    schema: &Value,
    known: &Map<String, Value>,
    problems: &[Problem],
) -> Result<Option<Value>, Failure> {
    if !problems.is_empty() {
        output::note("That does not fit:");
        text::problems(problems).iter().for_each(|line| output::note(line));
    }
    match Form::with_known(schema, known) {
        Form::Fields(fields) => {
            let mut object = Map::new();
            for field in fields {
                match one_field(lines, &field).await? {
                    Given::Value(value) => drop(object.insert(field.name, value)),
                    Given::Nothing => {}
                    Given::End => return Ok(None),
                }
            }
            Ok(Some(Value::Object(object)))
        }
        Form::One(field) => match one_field(lines, &field).await? {
            Given::Value(value) => Ok(Some(value)),
            Given::Nothing | Given::End => Ok(None),
        },
        Form::Json => {
            output::note(&format!(
                "  The answer must satisfy this schema: {}",
                text::printable(&schema.to_string())
            ));
            loop {
                output::prompt("  answer (JSON): ");
                let Some(line) = lines.next().await? else { return Ok(None) };
                match form::json(line.trim()) {
                    Ok(value) => return Ok(Some(value)),
                    Err(why) => output::note(&format!("  {why}")),
                }
            }
        }
    }
}

/// The result of asking for a field.
enum Given {
    Value(Value),
    /// It is left out.
    Nothing,
    /// There are no more answers.
    End,
}

/// The field's value, asked for until it can be read.
async fn one_field(lines: &mut Lines, field: &Field) -> Result<Given, Failure> {
    loop {
        output::prompt(&prompt(&field.prompt()));
        let Some(line) = lines.next().await? else { return Ok(Given::End) };
        match field.read(&line) {
            Ok(value) => return Ok(value.map_or(Given::Nothing, Given::Value)),
            Err(why) => output::note(&format!("  {}", text::printable(&why))),
        }
    }
}

/// A prompt, wrapped and emphasised at a terminal.
fn prompt(text: &str) -> String {
    let text = text::printable(text);
    let mode = OutputMode::new(false);
    if !mode.is_terminal() {
        return text;
    }
    let lines = layout::wrap(text.trim_end(), style::columns());
    let lines: Vec<String> = lines.iter().map(|line| mode.paint(Tone::Strong, line)).collect();
    format!("{} ", lines.join("\n"))
}

async fn one_json(lines: &mut Lines) -> Result<Option<Value>, Failure> {
    loop {
        let Some(line) = lines.next().await? else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        match form::json(&line) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => output::note(&format!("error: the answer cannot be read: {why}")),
        }
    }
}
