//! A definition in its normal form: it contains everything it refers to, and every short form is expanded.
//!
//! The normal form is hashed, pinned in the store, and interpreted. Its JSON is a stored format: a change
//! that makes old pinned definitions unreadable needs a new [`Definition::FORMAT`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::DocumentKind;

use crate::cel_expression::expression_name_path;

/// A workflow definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Version of the normal form.
    pub format: u32,
    pub id: String,
    pub name: String,
    pub description: String,
    pub version: String,
    /// Search words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// JSON Schema of the context that a run begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Seconds that a dispatching agent waits for its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answer_timeout: Option<u32>,
    /// Rules for the whole workflow; shown with the first step and with every inspection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// Documents that the rules refer to. They are looked up when the rules are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<DocumentReference>,
    pub steps: Vec<Step>,
    /// Run once when the run ends, however it ends; the engine awaits them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_exit: Vec<Step>,
    /// What the file contains and nothing acts on, so that it is not ignored silently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<UnsupportedConstruct>,
}

impl Definition {
    pub const FORMAT: u32 = 1;

    /// All rules: the guidance, and the references, with a mark if a document is not found.
    pub fn render_workflow_rules(&self, is_found: &dyn Fn(&str) -> bool) -> Vec<String> {
        let references = self.references.iter().map(|reference| {
            reference.render_reference_rule(!reference.packaged && is_found(&reference.source))
        });
        self.guidance.iter().cloned().chain(references).collect()
    }
}

/// A document next to a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentReference {
    pub title: String,
    /// A path, or an address.
    pub source: String,
    pub purpose: String,
    /// It must be followed; otherwise it is for information.
    pub authoritative: bool,
    /// It is in the package of another program that the file was written for, so it is never here.
    #[serde(default)]
    pub packaged: bool,
}

impl DocumentReference {
    fn render_reference_rule(&self, is_found: bool) -> String {
        let Self { title, source, purpose, .. } = self;
        if !is_found {
            return format!(
                "Reference \"{title}\" (`{source}`) [unresolved]: {purpose} It is not here: do not guess what it says, and go on without it."
            );
        }
        let weight = if self.authoritative { "Follow it strictly." } else { "It is for orientation." };
        format!("Reference \"{title}\" (`{source}`): {purpose} {weight}")
    }
}

/// A construct of the file that is not acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsupportedConstruct {
    /// JSON pointer into the file.
    pub path: String,
    pub message: String,
    /// Ignoring it would change what runs: such a workflow is listed, but not started.
    pub matters: bool,
}

/// One step. `id` is unique within the whole definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub id: String,
    /// Template.
    pub title: String,
    /// The step is skipped if this does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    pub kind: StepKind,
    /// Name in the context under which the step's result is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// Names in the context and CEL expressions of their new values, evaluated after the step. `result` is
    /// the step's result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Work for the driver of the run: the outside agent, or an agent of the engine.
    Prompt(Box<PromptStep>),
    /// A question to a person.
    Ask(AskStep),
    /// A tool of the engine, or of the outside agent if it drives.
    Tool(ToolStep),
    /// An artifact.
    Emit(EmitArtifact),
    /// A message to the watchers of the run.
    Announce(RunAnnouncement),
    /// Another workflow, whose steps run inside this one with their own context.
    Nested(NestedWorkflow),
    Switch(SwitchStep),
    Loop(LoopStep),
    Map(MapStep),
    /// Steps in a row. They share the group's `when`; otherwise a group changes nothing.
    Group(Vec<Step>),
}

impl StepKind {
    /// The lists of steps inside it.
    pub fn inner_steps(&self) -> Vec<&[Step]> {
        match self {
            Self::Group(steps) => vec![steps],
            Self::Nested(nested) => vec![&nested.steps],
            Self::Loop(repeated) => vec![&repeated.steps],
            Self::Map(map) => vec![&map.steps],
            Self::Switch(switch) => switch.cases.iter().map(|case| &case.steps[..]).collect(),
            Self::Prompt(_) | Self::Ask(_) | Self::Tool(_) | Self::Emit(_) | Self::Announce(_) => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptStep {
    /// Template.
    pub text: String,
    /// Added to the text, in order, if their conditions hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<PromptFragment>,
    /// Which agent of the engine works on it, if the engine drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputContract>,
    /// What the notes have to satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<NotesCriteria>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assessments: Vec<Assessment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<AssessmentConsequence>,
}

/// A part of a prompt with a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptFragment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Template.
    pub text: String,
}

/// A condition over the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    Always,
    /// A CEL expression over the names of the context.
    Cel(String),
    /// A rule as data, as WorkRail writes it.
    Rule(ConditionRule),
}

/// A rule as data. An unset name equals nothing, and is neither less nor greater than anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionRule {
    /// Compares the value at a path of names joined by dots.
    Test {
        name: String,
        test: Comparison,
        value: Value,
    },
    /// It is set, and not false, zero, empty or null.
    Truthy {
        name: String,
    },
    And(Vec<ConditionRule>),
    Or(Vec<ConditionRule>),
    Not(Box<ConditionRule>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    Equals,
    NotEquals,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Contains,
    StartsWith,
    EndsWith,
    /// A regular expression that matches in linear time.
    Matches,
    In,
    Exists,
}

/// What a step's output has to be, and the documents that it goes into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputContract {
    pub form: OutputContractForm,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<OutputDocumentRule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputContractForm {
    /// The whole output fits a schema.
    WholeOutput { schema: Value, example: Value },
    /// `output.artifacts` has an artifact of this kind that fits the schema.
    Artifact { kind: String, schema: Value, example: Value },
}

/// Which part of an output goes into which document, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputDocumentRule {
    pub name: String,
    pub kind: DocumentKind,
    /// JSON pointer into the output.
    pub from: String,
    /// For a table: JSON pointer into a row to its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What a text has to satisfy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotesCriteria {
    All(Vec<NotesCriteria>),
    Any(Vec<NotesCriteria>),
    Not(Box<NotesCriteria>),
    Rule { when: Option<Condition>, test: NotesTextTest, message: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotesTextTest {
    Contains(String),
    /// A regular expression that matches in linear time; its flags are part of it.
    Matches(String),
    Length {
        min: Option<u64>,
        max: Option<u64>,
    },
    /// The text is JSON that fits a schema.
    Schema(Value),
}

/// A judgement that a step requires, sent as an artifact `wr.assessment`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    pub id: String,
    pub purpose: String,
    pub dimensions: Vec<AssessmentDimension>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssessmentDimension {
    pub id: String,
    pub purpose: String,
    pub levels: Vec<String>,
    pub required: bool,
}

/// A judgement that keeps the run at the step until no dimension has this level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssessmentConsequence {
    pub level: String,
    /// Only for this assessment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<String>,
    pub guidance: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskStep {
    /// Template.
    pub message: String,
    /// JSON Schema of the answer.
    pub schema: Value,
    /// A person has to authorize something with the answer, like a signature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authorize: bool,
    /// Shown with the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<EmitArtifact>,
}

/// A message to the watchers of a run. Both are templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunAnnouncement {
    /// The progress.
    Status(String),
    /// Why the workflow rejects its input; nothing after it runs.
    Reject(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    pub name: String,
    /// Literal values; a text that begins with `=` is a CEL expression, and `==` writes a plain `=`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Value>,
}

/// An artifact with text (a template) or data (a CEL expression).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmitArtifact {
    /// Template of the artifact's name.
    pub artifact: String,
    pub content: EmitContent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmitContent {
    Text(String),
    Data(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedWorkflow {
    pub workflow: String,
    /// The inner context: names and values, like a tool's arguments. If absent, the outer context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<BTreeMap<String, Value>>,
    /// JSON Schema of the context that the inner steps begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    pub steps: Vec<Step>,
    /// CEL expression of the result, over the inner context; by default the inner context itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The first case whose condition holds runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchStep {
    pub cases: Vec<SwitchCase>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchCase {
    pub when: Condition,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopStep {
    pub over: LoopKind,
    /// At most this many rounds. A loop that reaches it ends with a warning.
    pub max: u32,
    /// Name of the round's number in the context, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopKind {
    While(Condition),
    Until(Condition),
    /// Until an artifact `wr.loop_control` of one of its steps says `stop`. Entered without a decision.
    Decision {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A number, or an expression that gives one.
    Count(LoopRoundCount),
    /// The items of a list.
    Each {
        list: ValueExpression,
        item: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopRoundCount {
    Number(u32),
    From(ValueExpression),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueExpression {
    /// A path of names in the context, joined by dots.
    Name(String),
    Cel(String),
}

impl ValueExpression {
    /// The path of names, if the value is only a path.
    pub(crate) fn context_name_path(&self) -> Option<String> {
        match self {
            Self::Name(path) => Some(path.clone()),
            Self::Cel(source) => expression_name_path(source),
        }
    }
}

/// The items of a list: several at once if the engine drives, one after the other if an outside agent does.
/// The result is the list of the items' results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapStep {
    pub list: ValueExpression,
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// How many items run at the same time.
    pub limit: u32,
    /// At most this many items.
    pub max: u32,
    pub on_failure: OnFailure,
    pub steps: Vec<Step>,
    /// CEL expression of an item's result, over the item's context; by default null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What a failed item does to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The step fails, and the other items stop.
    #[default]
    Fail,
    /// The item is left out of the result.
    Skip,
    /// The item's result is an object with the reason in `error`.
    Keep,
}
