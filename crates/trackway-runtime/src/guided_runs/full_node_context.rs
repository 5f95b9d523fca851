//! The whole context of a node. A node is stored without the large facts that an earlier event holds.

use std::collections::BTreeSet;

use trackway_domain::{GuidedNode, Object, RunId, Seq};
use trackway_ports::node_in_event;

use super::{GuidedRunError, GuidedRuns, run_and_definition_loading::guided_error_from_read};

impl GuidedRuns {
    /// Loads the whole context of a stored node.
    pub(super) async fn load_full_node_context(
        &self,
        run: RunId,
        node: &GuidedNode,
    ) -> Result<Object, GuidedRunError> {
        let mut context = node.context.clone();
        let events: BTreeSet<Seq> = node.context_refs.values().copied().collect();
        for seq in events {
            let found = self.options.journal.list_events(run, seq.saturating_sub(1), 1).await;
            let found = found.map_err(|error| guided_error_from_read(run, error))?.pop();
            let holder = found.as_ref().and_then(|stored| node_in_event(&stored.event));
            for (name, _) in node.context_refs.iter().filter(|(_, at)| **at == seq) {
                let value = holder.and_then(|holder| holder.context.get(name)).cloned();
                let value = value.ok_or_else(|| GuidedRunError::Damaged {
                    run,
                    reason: format!("event {seq}: it does not have the context's {name:?}"),
                })?;
                context.insert(name.clone(), value);
            }
        }
        Ok(context)
    }
}
