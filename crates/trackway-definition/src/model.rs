//! A definition in its normal form: everything it refers to is in it, every short form is written out.
//!
//! The normal form is what is hashed, pinned in the store, and interpreted. Its JSON is a stored format:
//! a change that old pinned definitions cannot be read by needs a new [`Definition::FORMAT`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::DocumentKind;

use crate::expression::plain_name;

/// A workflow that was written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Version of the normal form.
    pub format: u32,
    pub id: String,
    pub name: String,
    pub description: String,
    pub version: String,
    /// Words by which it is found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// JSON Schema of the context that a run begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Seconds that an agent which dispatches it waits for its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answer_timeout: Option<u32>,
    /// Rules for the whole workflow; shown with the first step and with every look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// Documents that the rules refer to. They are looked for where the rules are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    pub steps: Vec<Step>,
    /// Run once when the run ends, however it ends; the engine awaits them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_exit: Vec<Step>,
    /// What the file says and nothing acts on, so that nobody has to guess.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unheeded: Vec<Unheeded>,
}

impl Definition {
    pub const FORMAT: u32 = 1;

    /// All rules: the guidance, and the references with a mark at those that are not found.
    pub fn rules(&self, is_found: &dyn Fn(&str) -> bool) -> Vec<String> {
        let references = self
            .references
            .iter()
            .map(|reference| reference.rule(!reference.packaged && is_found(&reference.source)));
        self.guidance.iter().cloned().chain(references).collect()
    }
}

/// A document beside a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub title: String,
    /// A path, or an address.
    pub source: String,
    pub purpose: String,
    /// It is to be followed, not only known.
    pub authoritative: bool,
    /// It lies in the package of the program that the file was written for, and so never here.
    #[serde(default)]
    pub packaged: bool,
}

impl Reference {
    fn rule(&self, is_found: bool) -> String {
        let Self { title, source, purpose, .. } = self;
        if !is_found {
            return format!(
                "Reference \"{title}\" (`{source}`) [unresolved]: {purpose} It is not here: do not guess what it says, and go on without it."
            );
        }
        let weight =
            if self.authoritative { "Follow it strictly." } else { "It is for orientation." };
        format!("Reference \"{title}\" (`{source}`): {purpose} {weight}")
    }
}

/// A construct of the file that is not acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unheeded {
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
    /// The step is left out where this does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    pub kind: StepKind,
    /// Name in the context under which the step's result is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// Names in the context and CEL expressions of their new values, evaluated after the step, where
    /// `result` is the step's result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Work for whoever drives the run: the outside agent, or an agent of the engine.
    Prompt(Box<Prompt>),
    /// A question to a person.
    Ask(Ask),
    /// A tool of the engine, or of the outside agent where that one drives.
    Tool(Tool),
    /// An artifact.
    Emit(Emit),
    /// Something said to those who watch the run.
    Say(Say),
    /// Another workflow, whose steps run inside this one with a context of their own.
    Nested(Nested),
    Switch(Switch),
    Loop(Loop),
    Map(Map),
    /// Steps in a row. Their `when` is the group's; otherwise a group changes nothing.
    Group(Vec<Step>),
}

impl StepKind {
    /// The lists of steps inside of it.
    pub fn inner_steps(&self) -> Vec<&[Step]> {
        match self {
            Self::Group(steps) => vec![steps],
            Self::Nested(nested) => vec![&nested.steps],
            Self::Loop(repeated) => vec![&repeated.steps],
            Self::Map(map) => vec![&map.steps],
            Self::Switch(switch) => switch.cases.iter().map(|case| &case.steps[..]).collect(),
            Self::Prompt(_) | Self::Ask(_) | Self::Tool(_) | Self::Emit(_) | Self::Say(_) => {
                Vec::new()
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// Template.
    pub text: String,
    /// Added to the text, in order, where their conditions hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<Fragment>,
    /// Which agent of the engine works on it, where the engine drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Contract>,
    /// What the notes have to be like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assessments: Vec<Assessment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<Consequence>,
}

/// Text that belongs to a prompt under a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Template.
    pub text: String,
}

/// Something that holds or does not, of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    Always,
    /// A CEL expression over the names of the context.
    Cel(String),
    /// A rule as data, as WorkRail writes it.
    Rule(Rule),
}

/// A rule as data. A name that is not set equals nothing and is less and greater than nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The value at a path of names joined by dots compares as said.
    Test {
        name: String,
        test: Test,
        value: Value,
    },
    /// It is set, and neither false, zero, empty nor null.
    Truthy {
        name: String,
    },
    And(Vec<Rule>),
    Or(Vec<Rule>),
    Not(Box<Rule>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    Equals,
    NotEquals,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Contains,
    StartsWith,
    EndsWith,
    /// A regular expression, in linear time.
    Matches,
    In,
    Exists,
}

/// What a step's output has to be, and the documents that it goes into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    pub form: Form,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<DocumentRule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The whole output fits a schema.
    Whole { schema: Value, example: Value },
    /// `output.artifacts` has one of this kind, which fits the schema.
    Artifact { kind: String, schema: Value, example: Value },
}

/// Which part of an output goes into which document, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentRule {
    pub name: String,
    pub kind: DocumentKind,
    /// JSON pointer into the output.
    pub from: String,
    /// For a table: JSON pointer into a row to what tells it from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What a text has to be like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criteria {
    All(Vec<Criteria>),
    Any(Vec<Criteria>),
    Not(Box<Criteria>),
    Rule { when: Option<Condition>, test: TextTest, message: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextTest {
    Contains(String),
    /// A regular expression, in linear time; flags are written into it.
    Matches(String),
    Length {
        min: Option<u64>,
        max: Option<u64>,
    },
    /// The text is JSON that fits a schema.
    Schema(Value),
}

/// A judgement that a step asks for, sent as an artifact `wr.assessment`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    pub id: String,
    pub purpose: String,
    pub dimensions: Vec<Dimension>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    pub id: String,
    pub purpose: String,
    pub levels: Vec<String>,
    pub required: bool,
}

/// A judgement that holds the step: it stays until no dimension has this level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consequence {
    pub level: String,
    /// Only for this assessment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<String>,
    pub guidance: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Template.
    pub message: String,
    /// JSON Schema of the answer.
    pub schema: Value,
    /// A person has to authorize something with the answer, as with a signature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authorize: bool,
    /// Shown with the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Emit>,
}

/// What is said to those who watch a run. Both are templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Say {
    /// How far it has come.
    Status(String),
    /// Why the workflow declines; nothing after it runs.
    Reject(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    /// Values as they stand; a text that begins with `=` is a CEL expression, `==` writes a plain `=`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Value>,
}

/// An artifact with text (a template) or data (a CEL expression).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emit {
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
pub struct Nested {
    pub workflow: String,
    /// The inner context: names and values, as a tool's arguments. Without any, the outer context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<BTreeMap<String, Value>>,
    /// JSON Schema of the context that the inner steps begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    pub steps: Vec<Step>,
    /// CEL expression of the result, over the inner context; the inner context itself unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The first case whose condition holds runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    pub cases: Vec<Case>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub when: Condition,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    pub over: LoopOver,
    /// At most this many rounds. A loop that gets there ends with a warning.
    pub max: u32,
    /// Name of the round's number in the context, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopOver {
    While(Condition),
    Until(Condition),
    /// Until an artifact `wr.loop_control` of one of its steps says `stop`. Entered before a first one.
    Decision {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A number, or what gives one.
    Count(Amount),
    /// The items of a list.
    Each {
        list: Source,
        item: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    Number(u32),
    From(Source),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A path of names in the context, joined by dots.
    Name(String),
    Cel(String),
}

impl Source {
    /// The path of names that the value comes from, where it is no more than that.
    pub(crate) fn path(&self) -> Option<String> {
        match self {
            Self::Name(path) => Some(path.clone()),
            Self::Cel(source) => plain_name(source),
        }
    }
}

/// The items of a list, several at once where the engine drives, one after the other where an outside
/// agent does. The result is the list of the items' results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    pub list: Source,
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// How many items are worked on at the same time.
    pub limit: u32,
    /// At most this many items.
    pub max: u32,
    pub on_failure: OnFailure,
    pub steps: Vec<Step>,
    /// CEL expression of an item's result, over the item's context; null unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What an item that fails does to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The step fails, and the others are stopped.
    #[default]
    Fail,
    /// The item is left out of the result.
    Skip,
    /// The item's result is an object with the reason in `error`.
    Keep,
}
