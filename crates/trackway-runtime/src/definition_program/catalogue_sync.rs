//! A registry kept in step with the workflow folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::{DefinitionProgram, drive_refusal::find_drive_refusal, exit_workflow_name};
use crate::{Catalogue, CatalogueEntry, ProgramInfo, ProgramRegistry, Tools};

/// Offers the definitions of a catalogue that the engine can drive. Those in a registry before are left
/// alone: a file cannot take the place of a program.
#[derive(Debug)]
pub struct CatalogueSync {
    catalogue: Arc<Catalogue>,
    tools: Arc<Tools>,
    /// Names that programs have.
    program_names: BTreeSet<String>,
    /// Held while offers are renewed, so that two at once do not undo each other.
    state: Mutex<SyncState>,
}

/// What the files came to when they were looked at last.
#[derive(Debug, Default)]
struct SyncState {
    /// By name, the hash.
    registered: BTreeMap<String, Arc<str>>,
    refusals: Vec<RegistrationRefusal>,
}

/// A valid definition that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationRefusal {
    pub workflow: String,
    pub why: String,
    /// An operator has to know: nobody but the author of the file can mend it.
    pub matters: bool,
}

impl CatalogueSync {
    /// Offers for a registry that holds its programs already. Nothing is offered before
    /// [`Offers::renew`].
    pub fn new(catalogue: Arc<Catalogue>, registry: &ProgramRegistry, tools: Arc<Tools>) -> Self {
        let taken = registry.current_names().into_iter().collect();
        Self { catalogue, tools, program_names: taken, state: Mutex::default() }
    }

    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Looks at the files: what is new or changed is offered from now on, what is gone is withdrawn. Runs
    /// in flight keep the definition that they began with. What is declined is told once. Reads files, so
    /// it may take a moment.
    pub fn sync_registry(&self, registry: &ProgramRegistry) -> Vec<RegistrationRefusal> {
        let mut last = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = SyncState::default();
        for known in self.catalogue.list().workflows {
            let id = known.definition.id.clone();
            match self.register_definition(registry, &known, last.registered.get(&id)) {
                Ok(()) => drop(now.registered.insert(id, known.hash)),
                Err((matters, why)) => {
                    now.refusals.push(RegistrationRefusal { workflow: id, why, matters });
                }
            }
        }
        for name in last.registered.keys().filter(|name| !now.registered.contains_key(*name)) {
            registry.withdraw(name);
        }
        let aside = now.refusals.iter().filter(|declined| !self.program_names.contains(&declined.workflow));
        registry.set_unavailable(
            aside.map(|declined| (declined.workflow.clone(), declined.why.clone())).collect(),
        );
        let fresh = now.refusals.iter().filter(|declined| !last.refusals.contains(declined));
        let fresh = fresh.cloned().collect();
        *last = now;
        fresh
    }

    /// Offers one definition, or says why not and whether that matters.
    fn register_definition(
        &self,
        registry: &ProgramRegistry,
        known: &CatalogueEntry,
        before: Option<&Arc<str>>,
    ) -> Result<(), (bool, String)> {
        let id = &known.definition.id;
        if self.program_names.contains(id) {
            let file = known.file.display();
            return Err((true, format!("{file}: a program of this server has this name")));
        }
        if let Some(unfit) = find_drive_refusal(&known.definition, &self.tools, registry) {
            return Err((false, unfit.to_string()));
        }
        if !known.definition.on_exit.is_empty() && !ProgramInfo::is_valid_name(&exit_workflow_name(id)) {
            return Err((true, "its id is too long for a workflow with exit steps".to_owned()));
        }
        if before == Some(&known.hash) {
            return Ok(());
        }
        let (definition, tools) = (known.definition.clone(), self.tools.clone());
        let program = DefinitionProgram::new(definition, &known.hash, tools);
        registry.set_current(Arc::new(program)).map_err(|error| (true, error.to_string()))
    }
}
