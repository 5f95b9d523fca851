//! The agent card: what a client must know before its first request. One description, from which each
//! generation and binding writes its own form.

use serde_json::{Value, json};
use trackway_runtime::{Kind, ProgramInfo};

use crate::version::Generation;

/// Marks an agent as a workflow, for meshes that offer workflows as typed tools.
const AGENT_TYPE_EXTENSION: &str = "https://solace.com/a2a/extensions/agent-type";
/// Carries the schemas, because the card itself has no field for them.
const SCHEMAS_EXTENSION: &str = "https://solace.com/a2a/extensions/sam/schemas";

/// Every skill needs a tag; this is the tag of a workflow that has none.
const DEFAULT_TAG: &str = "workflow";
const AGENT_TAG: &str = "agent";

/// Name of the only security scheme: a key or a JWT in the `Authorization` header.
pub(crate) const SCHEME: &str = "bearer";
pub(crate) const SCHEME_DESCRIPTION: &str = "An API key of this server, or a JWT that it trusts.";

#[derive(Debug, Clone)]
pub(crate) struct Card<'a> {
    pub(crate) info: &'a ProgramInfo,
    /// The preferred one first.
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) push: bool,
    /// Whether there is an extended card.
    pub(crate) extended: bool,
    /// Whether a caller must authenticate.
    pub(crate) secured: bool,
    /// The scopes that a call needs; only the extended card contains them.
    pub(crate) scopes: Vec<String>,
    pub(crate) extensions: Vec<Declared<'a>>,
}

/// One address that serves one generation over one binding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interface {
    pub(crate) url: String,
    pub(crate) binding: Binding,
    pub(crate) generation: Generation,
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    HttpJson,
    Grpc,
}

/// An extension as the card declares it.
#[derive(Debug, Clone)]
pub(crate) struct Declared<'a> {
    pub(crate) uri: &'a str,
    pub(crate) description: &'a str,
    pub(crate) required: bool,
    pub(crate) params: Value,
}

impl Binding {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
            Self::Grpc => "GRPC",
        }
    }
}

impl<'a> Card<'a> {
    /// The card of a workflow that answers at these addresses.
    pub(crate) fn new(info: &'a ProgramInfo, interfaces: Vec<Interface>) -> Self {
        Self {
            info,
            interfaces,
            push: false,
            extended: false,
            secured: false,
            scopes: Vec::new(),
            extensions: extensions(info),
        }
    }

    /// Its skills. A workflow without skills is itself the only skill.
    pub(crate) fn skills(&self) -> Vec<Skill<'a>> {
        let info = self.info;
        if info.skills.is_empty() {
            let (description, examples) = (&info.description, &info.examples);
            return vec![Skill {
                id: &info.name,
                description,
                tags: tags(info, &info.tags),
                examples,
            }];
        }
        let one = |skill: &'a trackway_runtime::Skill| Skill {
            id: &skill.name,
            description: &skill.description,
            tags: tags(info, &skill.tags),
            examples: &skill.examples,
        };
        info.skills.iter().map(one).collect()
    }
}

/// One thing that an agent can do.
#[derive(Debug, Clone)]
pub(crate) struct Skill<'a> {
    /// Also used as its name.
    pub(crate) id: &'a str,
    pub(crate) description: &'a str,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) examples: &'a [String],
}

impl Skill<'_> {
    /// As JSON, which is the same in both generations.
    pub(crate) fn written(&self, info: &ProgramInfo) -> Value {
        let mut skill = json!({
            "id": self.id,
            "name": self.id,
            "description": self.description,
            "tags": self.tags,
            "inputModes": info.input_modes,
            "outputModes": info.output_modes,
        });
        if !self.examples.is_empty() {
            skill["examples"] = json!(self.examples);
        }
        skill
    }
}

fn tags<'a>(info: &ProgramInfo, own: &'a [String]) -> Vec<&'a str> {
    match (own, info.kind) {
        ([], Kind::Workflow) => vec![DEFAULT_TAG],
        ([], Kind::Agent) => vec![AGENT_TAG],
        (own, _) => own.iter().map(String::as_str).collect(),
    }
}

/// The extensions of every workflow or agent, then its own.
pub(crate) fn extensions(info: &ProgramInfo) -> Vec<Declared<'_>> {
    let mut schemas = json!({ "input_schema": info.input_schema });
    if !info.output_schema.is_null() {
        schemas["output_schema"] = info.output_schema.clone();
    }
    let kind = match info.kind {
        Kind::Workflow => "workflow",
        Kind::Agent => "agent",
    };
    let agent_type = Declared {
        uri: AGENT_TYPE_EXTENSION,
        description: "What kind of agent this is.",
        required: false,
        params: json!({ "type": kind }),
    };
    let schemas = Declared {
        uri: SCHEMAS_EXTENSION,
        description: "JSON Schemas of the first message's data part and of the output.",
        required: false,
        params: schemas,
    };
    let own = info.extensions.iter().map(|own| Declared {
        uri: &own.uri,
        description: &own.description,
        required: own.required,
        params: Value::Null,
    });
    // An agent accepts any message, so it has no input schema.
    let schemas = (info.kind == Kind::Workflow).then_some(schemas);
    [agent_type].into_iter().chain(schemas).chain(own).collect()
}
