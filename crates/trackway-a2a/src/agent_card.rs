//! The agent card: what a client must know before its first request. One description, from which each
//! generation and binding writes its own form.

use serde_json::{Value, json};
use trackway_a2a_wire::IDEMPOTENT_MESSAGES_EXTENSION;
use trackway_runtime::{ProgramInfo, ProgramKind};

use crate::protocol_version::ProtocolVersion;

/// Marks an agent as a workflow, for meshes that offer workflows as typed tools.
const AGENT_TYPE_EXTENSION: &str = "https://solace.com/a2a/extensions/agent-type";
/// Carries the schemas, because the card itself has no field for them.
const SCHEMAS_EXTENSION: &str = "https://solace.com/a2a/extensions/sam/schemas";

/// Every skill needs a tag; this is the tag of a workflow that has none.
const DEFAULT_TAG: &str = "workflow";
const AGENT_TAG: &str = "agent";

/// Name of the only security scheme: a key or a JWT in the `Authorization` header.
pub(crate) const BEARER_SCHEME: &str = "bearer";
pub(crate) const BEARER_SCHEME_DESCRIPTION: &str = "An API key of this server, or a JWT that it trusts.";

#[derive(Debug, Clone)]
pub(crate) struct AgentCard<'a> {
    pub(crate) program_info: &'a ProgramInfo,
    /// The preferred one first.
    pub(crate) interfaces: Vec<AgentInterface>,
    pub(crate) has_push_notifications: bool,
    /// Whether there is an extended card.
    pub(crate) has_extended_card: bool,
    /// Whether a caller must authenticate.
    pub(crate) requires_key: bool,
    /// The scopes that a call needs; only the extended card contains them.
    pub(crate) scopes: Vec<String>,
    pub(crate) extensions: Vec<DeclaredExtension<'a>>,
}

/// One address that serves one generation over one binding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentInterface {
    pub(crate) url: String,
    pub(crate) binding: ProtocolBinding,
    pub(crate) generation: ProtocolVersion,
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolBinding {
    JsonRpc,
    HttpJson,
    Grpc,
}

/// An extension as the card declares it.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredExtension<'a> {
    pub(crate) uri: &'a str,
    pub(crate) description: &'a str,
    pub(crate) required: bool,
    pub(crate) params: Value,
}

impl ProtocolBinding {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
            Self::Grpc => "GRPC",
        }
    }
}

impl<'a> AgentCard<'a> {
    /// The card of a workflow that answers at these addresses.
    pub(crate) fn new(info: &'a ProgramInfo, interfaces: Vec<AgentInterface>) -> Self {
        Self {
            program_info: info,
            interfaces,
            has_push_notifications: false,
            has_extended_card: false,
            requires_key: false,
            scopes: Vec::new(),
            extensions: declared_extensions(info),
        }
    }

    /// Its skills. A workflow without skills is itself the only skill.
    pub(crate) fn agent_skills(&self) -> Vec<AgentSkill<'a>> {
        let info = self.program_info;
        if info.skills.is_empty() {
            let (description, examples) = (&info.description, &info.examples);
            return vec![AgentSkill {
                id: &info.name,
                description,
                tags: skill_tags_or_default(info, &info.tags),
                examples,
            }];
        }
        let one = |skill: &'a trackway_runtime::ProgramSkill| AgentSkill {
            id: &skill.name,
            description: &skill.description,
            tags: skill_tags_or_default(info, &skill.tags),
            examples: &skill.examples,
        };
        info.skills.iter().map(one).collect()
    }
}

/// One thing that an agent can do.
#[derive(Debug, Clone)]
pub(crate) struct AgentSkill<'a> {
    /// Also used as its name.
    pub(crate) id: &'a str,
    pub(crate) description: &'a str,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) examples: &'a [String],
}

impl AgentSkill<'_> {
    /// As JSON, which is the same in both generations.
    pub(crate) fn render_skill_json(&self, info: &ProgramInfo) -> Value {
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

fn skill_tags_or_default<'a>(info: &ProgramInfo, own: &'a [String]) -> Vec<&'a str> {
    match (own, info.kind) {
        ([], ProgramKind::Workflow) => vec![DEFAULT_TAG],
        ([], ProgramKind::Agent) => vec![AGENT_TAG],
        (own, _) => own.iter().map(String::as_str).collect(),
    }
}

/// The extensions of every workflow or agent, then its own.
pub(crate) fn declared_extensions(info: &ProgramInfo) -> Vec<DeclaredExtension<'_>> {
    let mut schemas = json!({ "input_schema": info.input_schema });
    if !info.output_schema.is_null() {
        schemas["output_schema"] = info.output_schema.clone();
    }
    let kind = match info.kind {
        ProgramKind::Workflow => "workflow",
        ProgramKind::Agent => "agent",
    };
    let agent_type = DeclaredExtension {
        uri: AGENT_TYPE_EXTENSION,
        description: "What kind of agent this is.",
        required: false,
        params: json!({ "type": kind }),
    };
    let schemas = DeclaredExtension {
        uri: SCHEMAS_EXTENSION,
        description: "JSON Schemas of the first message's data part and of the output.",
        required: false,
        params: schemas,
    };
    let idempotent_messages = DeclaredExtension {
        uri: IDEMPOTENT_MESSAGES_EXTENSION,
        description: "A message with an id that was sent before has no effect; its answer is the first one's task.",
        required: false,
        params: Value::Null,
    };
    let own = info.extensions.iter().map(|own| DeclaredExtension {
        uri: &own.uri,
        description: &own.description,
        required: own.required,
        params: Value::Null,
    });
    // An agent accepts any message, so it has no input schema.
    let schemas = (info.kind == ProgramKind::Workflow).then_some(schemas);
    [agent_type].into_iter().chain(schemas).chain([idempotent_messages]).chain(own).collect()
}
