//! The tools of the door: their names, what they take, what they answer, and what an agent is taught.

pub(crate) mod advance;
pub(crate) mod checkpoint;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod resume;
pub(crate) mod start;

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::{
    arguments::{Arguments, Kind, Parameter},
    refusal::Refusal,
    schemas,
};

/// What this server offers beyond the five tools that are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Switches {
    /// `workflow_checkpoint` is offered.
    pub checkpoints: bool,
    /// It takes a session instead of a snapshot too.
    pub session_checkpoints: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    List,
    Inspect,
    Start,
    Advance,
    Checkpoint,
    Resume,
}

impl Name {
    /// In the order in which they are listed.
    pub(crate) const ALL: [Self; 6] =
        [Self::List, Self::Inspect, Self::Start, Self::Advance, Self::Checkpoint, Self::Resume];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::List => "workflow_list",
            Self::Inspect => "workflow_inspect",
            Self::Start => "workflow_start",
            Self::Advance => "workflow_advance",
            Self::Checkpoint => "workflow_checkpoint",
            Self::Resume => "workflow_resume",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::List => "List workflows",
            Self::Inspect => "Inspect a workflow",
            Self::Start => "Start a workflow",
            Self::Advance => "Advance a workflow",
            Self::Checkpoint => "Record notes",
            Self::Resume => "Find a run again",
        }
    }

    const fn description(self, switches: Switches) -> &'static str {
        match self {
            Self::List => {
                "Lists the workflows that can be started, with id, name, description, version and the hash of the definition. `query` keeps those that have all of its words in their id, name, description or tags. A long list comes in pages: send `nextCursor` as `cursor` for the next one. Files that cannot be read as a workflow are listed under `invalid` with the reasons."
            }
            Self::Inspect => {
                "Shows one workflow without starting it: its steps' ids and titles, the context that it wants, and `workflowHash`, which is what workflow_start pins a run to."
            }
            Self::Start => {
                "Starts a run of a workflow and returns its first step as `pending`, with two tokens. Do what `pending.prompt` says, then call workflow_advance with both tokens. Put known facts into `context`: an id such as `sessionId` or `ticketId` joins the run to a session. The run is pinned to the workflow as it is now and is durable: its tokens stay good after restarts, rewinds and weeks of pause. Calling this again starts another run."
            }
            Self::Advance => {
                "Answers the pending step and returns the next one. Send `stateToken` and `ackToken` from the same answer. Tokens are opaque: copy them exactly, never shorten, edit or make them up, and never read progress from anything else. The same call again returns the same answer and advances nothing, so it is safe to retry. After a rewound chat use the tokens that you see: other inputs on an answered snapshot make a new branch, and nothing is lost. Without `ackToken` (and without inputs) it only looks: it returns the pending step again with a fresh ackToken and a `recap`: notes, checkpoints and documents on the way here, and what grew from this snapshot. Facts that `pending.facts` names go into `context`. If `blocked` is not null, correct what `blocked.needs` says and send the fresh ackToken. The run is finished when `isComplete` is true. Everything answered is durable."
            }
            Self::Resume => {
                "Finds runs again when you have no token, for example in a new chat. `query` is a session id, a ticket id, a run id or words from titles, workflow names and notes; empty or left out, it lists the newest unfinished runs. Each item has a stateToken and a short `recap`: call workflow_advance with that stateToken alone to see the step and go on. Only your own runs are found. Changes nothing."
            }
            Self::Checkpoint if switches.session_checkpoints => {
                "Records notes without advancing anything: on the snapshot that `stateToken` names, or on a whole session with `sessionId` instead. Use it for work outside of a step, so that a rewound or new chat finds it in the `recap` of a look and through workflow_resume. The same notes at the same place are recorded once. Notes are durable."
            }
            Self::Checkpoint => {
                "Records notes on the snapshot that `stateToken` names, without advancing anything. Use it for work outside of a step, so that a rewound or new chat finds it in the `recap` of a look and through workflow_resume. The same notes at the same place are recorded once. Notes are durable."
            }
        }
    }

    const fn parameters(self, switches: Switches) -> &'static [Parameter] {
        match self {
            Self::List => &[QUERY, CURSOR],
            Self::Inspect => &[WORKFLOW_ID],
            Self::Start => &[WORKFLOW_ID, START_CONTEXT],
            Self::Advance => &[STATE_TOKEN, ACK_TOKEN, CONTEXT, OUTPUT, NOTES],
            Self::Checkpoint if switches.session_checkpoints => {
                &[OPTIONAL_STATE_TOKEN, SESSION_ID, REQUIRED_NOTES]
            }
            Self::Checkpoint => &[STATE_TOKEN, REQUIRED_NOTES],
            Self::Resume => &[QUERY],
        }
    }

    /// The arguments of a call, if they are of the tool's form.
    pub(crate) fn arguments(
        self,
        switches: Switches,
        raw: Option<Value>,
    ) -> Result<Arguments, Refusal> {
        Arguments::check(self.as_str(), self.parameters(switches), raw)
    }

    fn annotations(self) -> ToolAnnotations {
        let annotations = ToolAnnotations::with_title(self.title()).open_world(false);
        match self {
            Self::List | Self::Inspect | Self::Resume => {
                annotations.read_only(true).idempotent(true)
            }
            Self::Start => annotations.read_only(false).destructive(false).idempotent(false),
            Self::Advance | Self::Checkpoint => {
                annotations.read_only(false).destructive(false).idempotent(true)
            }
        }
    }

    fn output_schema(self) -> Value {
        match self {
            Self::List => schemas::list(),
            Self::Inspect => schemas::inspect(),
            Self::Start | Self::Advance => schemas::position(),
            Self::Checkpoint => schemas::checkpoint(),
            Self::Resume => schemas::resume(),
        }
    }

    fn input_schema(self, switches: Switches) -> Value {
        let parameters = self.parameters(switches);
        let properties: JsonObject = parameters
            .iter()
            .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
            .collect();
        let required: Vec<_> = parameters
            .iter()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name)
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn tool(self, switches: Switches) -> Tool {
        let object = |value: Value| match value {
            Value::Object(object) => Arc::new(object),
            _ => Arc::default(),
        };
        Tool::new(self.as_str(), self.description(switches), object(self.input_schema(switches)))
            .with_title(self.title())
            .with_raw_output_schema(object(self.output_schema()))
            .with_annotations(self.annotations())
    }
}

/// Every tool that is offered, always in the same order.
pub(crate) fn offered(switches: Switches) -> Vec<Tool> {
    Name::ALL
        .into_iter()
        .filter(|name| *name != Name::Checkpoint || switches.checkpoints)
        .map(|name| name.tool(switches))
        .collect()
}

/// An answer in both forms.
pub(crate) fn answer(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

const WORKFLOW_ID: Parameter = Parameter {
    name: "workflowId",
    kind: Kind::Text,
    required: true,
    description: "Id of a workflow, as workflow_list shows it.",
    example: "<an id that workflow_list shows>",
};

const QUERY: Parameter = Parameter {
    name: "query",
    kind: Kind::Text,
    required: false,
    description: "Words to look for in id, name, description and tags; all of them have to be there.",
    example: "review",
};

const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: Kind::Text,
    required: false,
    description: "The `nextCursor` of the page before, with the same `query`.",
    example: "<the nextCursor of the page before>",
};

const START_CONTEXT: Parameter = Parameter {
    name: "context",
    kind: Kind::Object,
    required: false,
    description: "Facts from outside that the workflow's prompts and conditions use. `sessionId`, `ticketId`, `issueId`, `prId`, `mrId` or `taskId` joins the run to the session of that id.",
    example: "",
};

const STATE_TOKEN: Parameter = Parameter {
    name: "stateToken",
    kind: Kind::Text,
    required: true,
    description: "Where the run stands: the `st.v1.` token of an earlier answer, copied exactly.",
    example: "<the st.v1. token of an earlier answer>",
};

const OPTIONAL_STATE_TOKEN: Parameter = Parameter { required: false, ..STATE_TOKEN };

const ACK_TOKEN: Parameter = Parameter {
    name: "ackToken",
    kind: Kind::Text,
    required: false,
    description: "Completes the pending step: the `ack.v1.` token from the same answer as the stateToken, copied exactly. Left out, the call only looks.",
    example: "<the ack.v1. token of the same answer>",
};

const CONTEXT: Parameter = Parameter {
    name: "context",
    kind: Kind::Object,
    required: false,
    description: "New or changed facts from outside; merged with those that the run has. Progress is never read from it.",
    example: "",
};

const OUTPUT: Parameter = Parameter {
    name: "output",
    kind: Kind::Object,
    required: false,
    description: "What the step produced, in the form that `pending.output` asks for.",
    example: "",
};

const NOTES: Parameter = Parameter {
    name: "notesMarkdown",
    kind: Kind::Text,
    required: false,
    description: "A short recap in Markdown of what was done; kept as a document of the step.",
    example: "What I did, found and decided.",
};

const REQUIRED_NOTES: Parameter =
    Parameter { required: true, description: "The notes to record, in Markdown.", ..NOTES };

const QUERY: Parameter = Parameter {
    name: "query",
    kind: Kind::Text,
    required: false,
    description: "A session id, a ticket id, a run id, or words. Left out: the newest unfinished runs.",
    example: "TICKET-1",
};

const SESSION_ID: Parameter = Parameter {
    name: "sessionId",
    kind: Kind::Text,
    required: false,
    description: "A session, instead of `stateToken`: the notes belong to the session as a whole.",
    example: "TICKET-1",
};
