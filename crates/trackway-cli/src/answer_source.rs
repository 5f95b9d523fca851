//! Answers to questions: from a person at the terminal, or as JSON from a program.

use serde_json::{Map, Value};
use trackway::api::QuestionView;
use trackway_domain::ValidationError;

use crate::{
    cli_error::CliError,
    output_streams,
    schema_form::{self, SchemaForm, SchemaFormField},
    stdin_lines::StdinLines,
    terminal_layout,
    terminal_style::{self, OutputMode, TextTone},
    text_format,
};

/// Who answers.
#[derive(Debug)]
pub(crate) enum AnswerSource {
    /// A person, field by field.
    Person(StdinLines),
    /// A program: one JSON value per line.
    Program(StdinLines),
    /// No answers: the run stays waiting.
    Nobody,
}

impl AnswerSource {
    pub(crate) fn new(json: bool) -> Self {
        if json { Self::Program(StdinLines::default()) } else { Self::Person(StdinLines::default()) }
    }

    /// An answer to the question; `None` when there are no more answers. Values in `known` are
    /// offered as defaults.
    pub(crate) async fn answer_question(
        &mut self,
        question: &QuestionView,
        known: &Map<String, Value>,
    ) -> Result<Option<Value>, CliError> {
        match self {
            Self::Person(lines) => prompt_for_schema(lines, &question.schema, known, &question.errors).await,
            Self::Program(lines) => read_json_answer(lines).await,
            Self::Nobody => Ok(None),
        }
    }

    /// A value for a schema, from a person; `None` if there is no person to ask.
    pub(crate) async fn prompt_for_schema_value(
        &mut self,
        schema: &Value,
        problems: &[ValidationError],
    ) -> Result<Option<Value>, CliError> {
        match self {
            Self::Person(lines) => prompt_for_schema(lines, schema, &Map::new(), problems).await,
            Self::Program(_) | Self::Nobody => Ok(None),
        }
    }
}

async fn prompt_for_schema(
    lines: &mut StdinLines,
    schema: &Value,
    known: &Map<String, Value>,
    problems: &[ValidationError],
) -> Result<Option<Value>, CliError> {
    if !problems.is_empty() {
        output_streams::print_stderr_note("That does not fit:");
        text_format::render_validation_errors(problems)
            .iter()
            .for_each(|line| output_streams::print_stderr_note(line));
    }
    match SchemaForm::from_schema_with_defaults(schema, known) {
        SchemaForm::Fields(fields) => {
            let mut object = Map::new();
            for field in fields {
                match prompt_for_field(lines, &field).await? {
                    FieldPromptResult::Value(value) => drop(object.insert(field.name, value)),
                    FieldPromptResult::Omitted => {}
                    FieldPromptResult::Ended => return Ok(None),
                }
            }
            Ok(Some(Value::Object(object)))
        }
        SchemaForm::Single(field) => match prompt_for_field(lines, &field).await? {
            FieldPromptResult::Value(value) => Ok(Some(value)),
            FieldPromptResult::Omitted | FieldPromptResult::Ended => Ok(None),
        },
        SchemaForm::Json => {
            output_streams::print_stderr_note(&format!(
                "  The answer must satisfy this schema: {}",
                text_format::replace_control_chars(&schema.to_string())
            ));
            loop {
                output_streams::write_stderr_prompt("  answer (JSON): ");
                let Some(line) = lines.next_stdin_line().await? else { return Ok(None) };
                match schema_form::parse_typed_json(line.trim()) {
                    Ok(value) => return Ok(Some(value)),
                    Err(why) => output_streams::print_stderr_note(&format!("  {why}")),
                }
            }
        }
    }
}

/// The result of asking for a field.
enum FieldPromptResult {
    Value(Value),
    /// It is left out.
    Omitted,
    /// There are no more answers.
    Ended,
}

/// The field's value, asked for until it can be read.
async fn prompt_for_field(
    lines: &mut StdinLines,
    field: &SchemaFormField,
) -> Result<FieldPromptResult, CliError> {
    loop {
        output_streams::write_stderr_prompt(&format_prompt(&field.render_field_prompt()));
        let Some(line) = lines.next_stdin_line().await? else { return Ok(FieldPromptResult::Ended) };
        match field.parse_typed_field_value(&line) {
            Ok(value) => return Ok(value.map_or(FieldPromptResult::Omitted, FieldPromptResult::Value)),
            Err(why) => {
                output_streams::print_stderr_note(&format!("  {}", text_format::replace_control_chars(&why)))
            }
        }
    }
}

/// A prompt, wrapped and emphasised at a terminal.
fn format_prompt(text: &str) -> String {
    let text = text_format::replace_control_chars(text);
    let mode = OutputMode::new(false);
    if !mode.is_terminal() {
        return text;
    }
    let lines = terminal_layout::wrap_text(text.trim_end(), terminal_style::terminal_text_columns());
    let lines: Vec<String> = lines.iter().map(|line| mode.paint_text(TextTone::Strong, line)).collect();
    format!("{} ", lines.join("\n"))
}

async fn read_json_answer(lines: &mut StdinLines) -> Result<Option<Value>, CliError> {
    loop {
        let Some(line) = lines.next_stdin_line().await? else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        match schema_form::parse_typed_json(&line) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => {
                output_streams::print_stderr_note(&format!("error: the answer cannot be read: {why}"))
            }
        }
    }
}
