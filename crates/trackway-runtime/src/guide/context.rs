//! The context of a node, stored without what an earlier event has already.
//!
//! A large fact that an answer does not change is not written again: the node names the event that has it.
//! That event holds the value itself, so nothing is followed further than one step, and a node needs at
//! most a few events to be whole.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trackway_domain::{Node, Object, RunId, Seq};
use trackway_ports::node_of;

use super::{Guide, GuideError, store::unreadable};

/// Bytes from which on a fact is kept where it is. A reference costs some thirty.
const KEPT_BYTES_MIN: usize = 512;
/// Events that one node may refer to: each is one more read for whoever answers the node. A node that would
/// need more holds its whole context, and those after it refer to it.
/// Limit (Sessions): earlier events that a snapshot refers to for its facts.
const KEPT_EVENTS_MAX: usize = 4;

/// Takes out of a new node what the one before it has. `before` is as it is stored, in the event of number
/// `seq`; `whole` is its context.
pub(super) fn pack(node: &mut Node, before: &Node, whole: &Object, seq: Seq) {
    let mut kept = BTreeMap::new();
    for (name, value) in &node.context {
        if whole.get(name) == Some(value) && is_large(value) {
            kept.insert(name.clone(), before.kept.get(name).copied().unwrap_or(seq));
        }
    }
    if kept.values().collect::<BTreeSet<_>>().len() > KEPT_EVENTS_MAX {
        return;
    }
    for name in kept.keys() {
        // In its place, so that the order of the names stays.
        node.context.insert(name.clone(), Value::Null);
    }
    node.kept = kept;
}

fn is_large(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.len() >= KEPT_BYTES_MIN,
        Value::Array(_) | Value::Object(_) => value.to_string().len() >= KEPT_BYTES_MIN,
    }
}

impl Guide {
    /// The whole context of a node as it is stored.
    pub(super) async fn whole_context(
        &self,
        run: RunId,
        node: &Node,
    ) -> Result<Object, GuideError> {
        let mut context = node.context.clone();
        let events: BTreeSet<Seq> = node.kept.values().copied().collect();
        for seq in events {
            let found = self.options.journal.events(run, seq.saturating_sub(1), 1).await;
            let found = found.map_err(|error| unreadable(run, error))?.pop();
            let holder = found.as_ref().and_then(|stored| node_of(&stored.event));
            for (name, _) in node.kept.iter().filter(|(_, at)| **at == seq) {
                let value = holder.and_then(|holder| holder.context.get(name)).cloned();
                let value = value.ok_or_else(|| GuideError::Damaged {
                    run,
                    reason: format!("event {seq}: it does not have the context's {name:?}"),
                })?;
                context.insert(name.clone(), value);
            }
        }
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trackway_domain::NodeId;
    use uuid::Uuid;

    use super::*;

    fn node(context: &Value) -> Node {
        Node {
            id: NodeId::new(Uuid::from_u128(1)),
            parent: None,
            definition: String::new(),
            walk: Value::Null,
            context: context.as_object().cloned().unwrap_or_default(),
            kept: BTreeMap::new(),
            pending: None,
        }
    }

    #[test]
    fn large_facts_that_did_not_change_are_kept_where_they_are() {
        let large = "x".repeat(1_000);
        let first = node(&json!({ "a": large, "b": large, "c": 1 }));
        let whole = first.context.clone();
        let mut second = node(&json!({ "a": large, "b": format!("{large}y"), "c": 1, "d": large }));
        let second_whole = second.context.clone();
        pack(&mut second, &first, &whole, 3);
        assert_eq!(second.kept, BTreeMap::from([("a".to_owned(), 3)]));
        assert_eq!(second.context["a"], Value::Null);
        assert_eq!((&second.context["c"], second.context["d"].is_string()), (&json!(1), true));
        let mut third = node(&Value::Object(second_whole.clone()));
        pack(&mut third, &second, &second_whole, 4);
        let expected = [("a", 3), ("b", 4), ("d", 4)].map(|(name, seq)| (name.to_owned(), seq));
        assert_eq!(third.kept, BTreeMap::from(expected), "a points to where it is, not further");
    }

    #[test]
    fn a_node_refers_to_few_events() {
        let large = json!("x".repeat(1_000));
        let names: Vec<String> = (0..6).map(|number| format!("k{number}")).collect();
        let context: Value =
            Value::Object(names.iter().map(|name| (name.clone(), large.clone())).collect());
        let mut before = node(&context);
        let whole = before.context.clone();
        before.kept = names.iter().cloned().zip(10..).collect();
        let mut after = node(&context);
        pack(&mut after, &before, &whole, 20);
        assert!(after.kept.is_empty() && after.context == whole, "it is whole again");
    }
}
