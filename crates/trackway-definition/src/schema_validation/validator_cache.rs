//! A cache of compiled schemas: a schema of a few kilobytes takes hundreds of microseconds to compile, and a
//! workflow checks every answer to a step against the same one.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Patterns come from files: a compiled one takes no more memory than this.
/// Limit (Definitions): memory of one compiled pattern of a schema.
const PATTERN_BYTES_MAX: usize = 256 * 1024;

/// Compiled schemas that are kept. A workflow has a few, an agent works in one or two workflows at a time
/// and a server in some dozens; a compiled schema takes some ten times the memory of its text.
/// Limit (Definitions): compiled schemas kept in memory.
const KEPT_MAX: usize = 128;

/// SHA-256 of a schema's text. The same schema with its keys in another order is compiled once more.
type Key = [u8; 32];

/// One cache for all callers: which schemas are in use depends on the runs.
static CACHE: ValidatorCache = ValidatorCache(Mutex::new(VecDeque::new()));

/// The compiled schema.
pub(super) fn get_or_compile_schema(schema: &Value) -> Result<Arc<Validator>, String> {
    let key = Sha256::digest(schema.to_string()).into();
    if let Some(known) = CACHE.get_validator(&key) {
        return Ok(known);
    }
    // Outside the lock, so that others need not wait; two callers at once may compile it twice.
    let validator = Arc::new(compile_schema_validator(schema)?);
    CACHE.insert_validator(key, validator.clone());
    Ok(validator)
}

fn compile_schema_validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
        .build(schema)
        .map_err(|error| error.to_string())
}

/// The most recently used first. A std mutex: sections are short and never await.
struct ValidatorCache(Mutex<VecDeque<(Key, Arc<Validator>)>>);

impl ValidatorCache {
    fn get_validator(&self, key: &Key) -> Option<Arc<Validator>> {
        let mut kept = self.lock_cache();
        let index = kept.iter().position(|(known, _)| known == key)?;
        let entry = kept.remove(index)?;
        let validator = entry.1.clone();
        kept.push_front(entry);
        Some(validator)
    }

    fn insert_validator(&self, key: Key, validator: Arc<Validator>) {
        let mut kept = self.lock_cache();
        if kept.iter().all(|(known, _)| *known != key) {
            kept.push_front((key, validator));
            kept.truncate(KEPT_MAX);
        }
    }

    fn lock_cache(&self) -> MutexGuard<'_, VecDeque<(Key, Arc<Validator>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_compiled_once() {
        let schema = json!({ "const": "a schema that no other test has" });
        let first = get_or_compile_schema(&schema).expect("a schema");
        assert!(Arc::ptr_eq(&first, &get_or_compile_schema(&schema).expect("a schema")));
        let other = get_or_compile_schema(&json!({ "const": "another" })).expect("a schema");
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(other.is_valid(&json!("another")) && !first.is_valid(&json!("another")));
    }

    #[test]
    fn least_recently_used_is_evicted() {
        let kept = ValidatorCache(Mutex::default());
        let validator = Arc::new(compile_schema_validator(&json!(true)).expect("a schema"));
        let key = |number: usize| {
            let mut key = Key::default();
            key[..8].copy_from_slice(&number.to_be_bytes());
            key
        };
        for number in 0..=KEPT_MAX {
            kept.insert_validator(key(number), validator.clone());
            assert!(kept.get_validator(&key(0)).is_some(), "used all the time");
        }
        assert!(kept.get_validator(&key(1)).is_none(), "the one not used for the longest time went");
        assert!(kept.get_validator(&key(KEPT_MAX)).is_some());
        assert_eq!(kept.lock_cache().len(), KEPT_MAX);
    }
}
