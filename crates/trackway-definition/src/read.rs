//! From a file's text to a definition: each file is read by itself, then linked with those it refers to.
//!
//! Reading and linking go the same way through the file. Reading alone leaves out what other files hold,
//! so that each file's own faults are known without them.

mod arguments;
mod assess;
mod blocks;
mod call;
mod check;
mod condition;
mod contract;
mod criteria;
mod cursor;
mod file;
mod functions;
mod kinds;
mod loops;
mod parallel;
mod phrases;
mod prompt;
mod sink;
mod step;
mod template;
#[cfg(test)]
pub(crate) mod tests;
mod top;

use serde_json::Value;
use trackway_domain::is_too_deep;

use self::file::Linking;
use self::sink::Sink;
use crate::text::{Located, locate};
use crate::{Definition, Fault};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

/// One file, read by itself. What it refers to is not in it yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub id: String,
    located: Located,
    strict: bool,
    references: Vec<String>,
}

/// Why a file is no definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The id, where the file says one.
    pub id: Option<String>,
    pub faults: Vec<Fault>,
}

/// Reads a file by itself.
///
/// A YAML file, and a JSON file that says `"trackway": 1`, is strict: every key has to be known. Another
/// JSON file may hold more than is acted on, which the definition then lists.
pub fn read(text: &str, format: Format) -> Result<Draft, Unreadable> {
    let located =
        locate(text, format).map_err(|fault| Unreadable { id: None, faults: vec![fault] })?;
    let strict = format == Format::Yaml || located.value.get("trackway").is_some();
    let mut draft = Draft { id: String::new(), located, strict, references: Vec::new() };
    let linking = Linking::new(None);
    match draft.definition(&linking) {
        Ok(definition) => {
            let references = linking.references.into_inner().into_iter().collect();
            draft.id = definition.id;
            draft.references = references;
            Ok(draft)
        }
        Err(faults) => {
            let id = draft.value().get("id").and_then(Value::as_str).map(str::to_owned);
            Err(Unreadable { id, faults })
        }
    }
}

impl Draft {
    /// Ids of the workflows that it refers to.
    pub fn references(&self) -> Vec<&str> {
        self.references.iter().map(String::as_str).collect()
    }

    /// The definition in its normal form, with everything it refers to inside.
    pub fn link<'a>(
        &'a self,
        library: &dyn Fn(&str) -> Option<&'a Draft>,
    ) -> Result<Definition, Vec<Fault>> {
        self.definition(&Linking::new(Some(&|id: &str| library(id))))
    }

    fn value(&self) -> &Value {
        &self.located.value
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn definition(&self, linking: &Linking<'_>) -> Result<Definition, Vec<Fault>> {
        let sink = Sink::new(self.strict);
        let top = top::read(self.value(), &sink, linking, None);
        let (mut faults, unheeded) = sink.into_parts();
        if !faults.is_empty() {
            for fault in &mut faults {
                fault.line = self.located.line(&fault.path);
            }
            return Err(faults);
        }
        let definition = Definition {
            format: Definition::FORMAT,
            id: top.id,
            name: top.name,
            description: top.description,
            version: top.version,
            input: top.input,
            guidance: top.guidance,
            steps: top.steps,
            first_answer_timeout: top.first_answer_timeout,
            on_exit: top.on_exit,
            unheeded,
        };
        // What is pinned has to be read back, and readers of JSON go down the stack with every level.
        match serde_json::to_value(&definition) {
            Ok(value) if !is_too_deep(&value) => Ok(definition),
            _ => Err(vec![Fault::new("", "the workflow is nested too deep with everything in it")]),
        }
    }
}
