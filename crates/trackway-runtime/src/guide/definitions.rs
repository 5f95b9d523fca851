//! The definitions that runs are pinned to, as they were read from the store.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trackway_definition::Definition;

/// Definitions kept in memory. An agent works in one or two workflows at a time; a server for a team,
/// in some dozens.
/// Limit (Sessions): definitions kept in memory.
const KEPT_MAX: usize = 64;

/// Definitions by hash, those used last first.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// A std mutex: sections are short and never await.
    kept: Mutex<VecDeque<(String, Arc<Definition>)>>,
}

impl Definitions {
    pub(super) fn get(&self, hash: &str) -> Option<Arc<Definition>> {
        let mut kept = self.lock();
        let index = kept.iter().position(|(known, _)| known == hash)?;
        let entry = kept.remove(index)?;
        let definition = entry.1.clone();
        kept.push_front(entry);
        Some(definition)
    }

    pub(super) fn keep(&self, hash: &str, definition: Arc<Definition>) {
        let mut kept = self.lock();
        if kept.iter().all(|(known, _)| known != hash) {
            kept.push_front((hash.to_owned(), definition));
            kept.truncate(KEPT_MAX);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Definition>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(number: usize) -> Arc<Definition> {
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
            unheeded: Vec::new(),
        })
    }

    #[test]
    fn those_used_last_are_kept() {
        let definitions = Definitions::default();
        for number in 0..=KEPT_MAX {
            definitions.keep(&number.to_string(), definition(number));
            assert!(definitions.get("0").is_some(), "used all the time");
        }
        assert!(definitions.get("1").is_none(), "the one not used for the longest time went");
        let newest = definitions.get(&KEPT_MAX.to_string());
        assert_eq!(newest.map(|definition| definition.id.clone()), Some(KEPT_MAX.to_string()));
    }
}
