//! Tools: what a written workflow, and later an agent, can have done.

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use trackway_domain::{Failure, Problem};
use trackway_engine::Schemas;

use crate::{Attempt, SchemaBook};

pub type ToolFuture = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

/// Something that can be done by name. Its call is a recorded step: what it came to is never asked for
/// again, and a crash in between repeats it with the same idempotency key.
pub trait Tool: Send + Sync + fmt::Debug {
    fn info(&self) -> &ToolInfo;
    /// `arguments` fit the input schema.
    fn call(&self, arguments: Value, attempt: Attempt) -> ToolFuture;
}

/// What everybody may know of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

/// The tools of a server, by name.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    schemas: Arc<SchemaBook>,
}

impl Tools {
    /// Adds a tool. The one of the same name that was there before is given back.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.tools.insert(tool.info().name.clone(), tool)
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// What is wrong with the arguments of a call; nothing where they fit.
    pub(crate) fn check(&self, tool: &ToolInfo, arguments: &Value) -> Vec<Problem> {
        self.schemas.check(&tool.input_schema, arguments)
    }

    pub fn list(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }
}
