//! A cache of the definitions that runs are pinned to, as read from the store.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trackway_definition::Definition;

/// Definitions kept in memory. An agent works in one or two workflows at a time; a team's server in some
/// dozens.
/// Limit (Sessions): definitions kept in memory.
const KEPT_MAX: usize = 64;

/// Definitions by hash, the most recently used first.
#[derive(Debug, Default)]
pub(super) struct DefinitionCache {
    /// A std mutex: sections are short and never await.
    entries: Mutex<VecDeque<(String, Arc<Definition>)>>,
}

impl DefinitionCache {
    pub(super) fn get_definition(&self, hash: &str) -> Option<Arc<Definition>> {
        let mut kept = self.lock_entries();
        let index = kept.iter().position(|(known, _)| known == hash)?;
        let entry = kept.remove(index)?;
        let definition = entry.1.clone();
        kept.push_front(entry);
        Some(definition)
    }

    pub(super) fn insert_definition(&self, hash: &str, definition: Arc<Definition>) {
        let mut kept = self.lock_entries();
        if kept.iter().all(|(known, _)| known != hash) {
            kept.push_front((hash.to_owned(), definition));
            kept.truncate(KEPT_MAX);
        }
    }

    fn lock_entries(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Definition>)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered_definition(number: usize) -> Arc<Definition> {
        Arc::new(Definition {
            format: Definition::FORMAT,
            id: number.to_string(),
            name: String::new(),
            description: String::new(),
            version: String::new(),
            tags: Vec::new(),
            first_answer_timeout: None,
            input: None,
            guidance: Vec::new(),
            references: Vec::new(),
            steps: Vec::new(),
            on_exit: Vec::new(),
            unsupported: Vec::new(),
        })
    }

    #[test]
    fn least_recently_used_is_evicted() {
        let definitions = DefinitionCache::default();
        for number in 0..=KEPT_MAX {
            definitions.insert_definition(&number.to_string(), numbered_definition(number));
            assert!(definitions.get_definition("0").is_some(), "used all the time");
        }
        assert!(definitions.get_definition("1").is_none(), "the one not used for the longest time went");
        let newest = definitions.get_definition(&KEPT_MAX.to_string());
        assert_eq!(newest.map(|definition| definition.id.clone()), Some(KEPT_MAX.to_string()));
    }
}
