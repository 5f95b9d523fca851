//! A registry kept in step with the workflow folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::{DefinitionProgram, exit_name, fit::unfit};
use crate::{Catalogue, Known, ProgramInfo, Registry, Tools};

/// Offers the definitions of a catalogue that the engine can drive. Those in a registry before are left
/// alone: a file cannot take the place of a program.
#[derive(Debug)]
pub struct Offers {
    catalogue: Arc<Catalogue>,
    tools: Arc<Tools>,
    /// Names that programs have.
    taken: BTreeSet<String>,
    /// Held while offers are renewed, so that two at once do not undo each other.
    last: Mutex<Last>,
}

/// What the files came to when they were looked at last.
#[derive(Debug, Default)]
struct Last {
    /// By name, the hash.
    offered: BTreeMap<String, Arc<str>>,
    declined: Vec<Declined>,
}

/// A valid definition that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declined {
    pub workflow: String,
    pub why: String,
    /// An operator has to know: nobody but the author of the file can mend it.
    pub matters: bool,
}

impl Offers {
    /// Offers for a registry that holds its programs already. Nothing is offered before
    /// [`Offers::renew`].
    pub fn new(catalogue: Arc<Catalogue>, registry: &Registry, tools: Arc<Tools>) -> Self {
        let taken = registry.names().into_iter().collect();
        Self { catalogue, tools, taken, last: Mutex::default() }
    }

    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Looks at the files: what is new or changed is offered from now on, what is gone is withdrawn. Runs
    /// in flight keep the definition that they began with. What is declined is told once. Reads files, so
    /// it may take a moment.
    pub fn renew(&self, registry: &Registry) -> Vec<Declined> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = Last::default();
        for known in self.catalogue.list().workflows {
            let id = known.definition.id.clone();
            match self.offer(registry, &known, last.offered.get(&id)) {
                Ok(()) => drop(now.offered.insert(id, known.hash)),
                Err((matters, why)) => {
                    now.declined.push(Declined { workflow: id, why, matters });
                }
            }
        }
        for name in last.offered.keys().filter(|name| !now.offered.contains_key(*name)) {
            registry.withdraw(name);
        }
        let aside = now.declined.iter().filter(|declined| !self.taken.contains(&declined.workflow));
        registry.set_aside(
            aside.map(|declined| (declined.workflow.clone(), declined.why.clone())).collect(),
        );
        let fresh = now.declined.iter().filter(|declined| !last.declined.contains(declined));
        let fresh = fresh.cloned().collect();
        *last = now;
        fresh
    }

    /// Offers one definition, or says why not and whether that matters.
    fn offer(
        &self,
        registry: &Registry,
        known: &Known,
        before: Option<&Arc<str>>,
    ) -> Result<(), (bool, String)> {
        let id = &known.definition.id;
        if self.taken.contains(id) {
            let file = known.file.display();
            return Err((true, format!("{file}: a program of this server has this name")));
        }
        if let Some(unfit) = unfit(&known.definition, &self.tools, registry) {
            return Err((false, unfit.to_string()));
        }
        if !known.definition.on_exit.is_empty() && !ProgramInfo::can_name(&exit_name(id)) {
            return Err((true, "its id is too long for a workflow with exit steps".to_owned()));
        }
        if before == Some(&known.hash) {
            return Ok(());
        }
        let (definition, tools) = (known.definition.clone(), self.tools.clone());
        let program = DefinitionProgram::new(definition, &known.hash, tools);
        registry.offer(Arc::new(program)).map_err(|error| (true, error.to_string()))
    }
}
