//! Moves a run to the current definition. It happens only on request, and it reads the run's whole log.

use std::collections::BTreeMap;

use trackway_domain::{Access, Event, GuidedNode, GuidedRunCommand, RunId, Seq};
use trackway_engine::check_guided_run_accepts_events;
use trackway_ports::{PinnedDefinition, RunRow};

use super::{
    GuidedMigrateResponse, GuidedRunError, GuidedRuns,
    guided_command_execution::{
        AppendPinsAndClaim, GuidedCommandOutcome, guided_error_from_refusal, guided_run_from_row,
    },
    input_size_limits,
    node_advance::{TRIES_MAX, run_contention_error},
    open_nodes::OpenNodes,
    run_and_definition_loading::EventVisitControl,
};
use crate::CatalogueEntry;

/// What the last event of a run shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastEventKind {
    /// The run was imported and not adopted since.
    Imported,
    Other,
}

impl GuidedRuns {
    /// Moves the open nodes of a run to the current definition.
    pub async fn migrate_to_current_definition(
        &self,
        access: &Access,
        run: RunId,
    ) -> Result<GuidedMigrateResponse, GuidedRunError> {
        for _ in 0..TRIES_MAX {
            let row = self.load_accessible_run_row(access, run).await?;
            let (ends, head, last) = self.load_open_nodes(run).await?;
            check_guided_run_accepts_events(row.state, last == LastEventKind::Imported)
                .map_err(|refusal| guided_error_from_refusal(run, refusal))?;
            if !ends.is_guided {
                let why = "no outside agent drives it".into();
                return Err(GuidedRunError::CannotMigrate { run, why });
            }
            let known = self.find_startable_workflow(&row.workflow.name).await?;
            let ends: Vec<GuidedNode> = ends.into_pending_nodes().collect();
            let from = ends.first().map_or(&row.workflow.version, |node| &node.definition).clone();
            let to = known.hash.to_string();
            let moved = self.repin_nodes_to_definition(&row, ends, &known).await?;
            let nodes = moved.iter().map(|node| node.id).collect();
            let migrated = GuidedMigrateResponse { from, to, nodes };
            if moved.is_empty() {
                return Ok(migrated);
            }
            let pins = vec![PinnedDefinition {
                hash: migrated.to.clone(),
                body: known.definition.to_canonical_json(),
            }];
            let indexed = guided_run_from_row(&row, head, false);
            let command = GuidedRunCommand::Repin { nodes: moved };
            let with = AppendPinsAndClaim { pins, ..AppendPinsAndClaim::default() };
            match self.execute_guided_command(run, Some(indexed), command, with).await? {
                GuidedCommandOutcome::LostRace => {}
                GuidedCommandOutcome::Done(_) | GuidedCommandOutcome::Repeated => return Ok(migrated),
            }
        }
        Err(run_contention_error(run))
    }

    /// The nodes without an answer, and the number of the run's last event.
    async fn load_open_nodes(&self, run: RunId) -> Result<(OpenNodes, Seq, LastEventKind), GuidedRunError> {
        let (mut ends, mut head, mut last) = (OpenNodes::default(), 0, LastEventKind::Other);
        self.for_each_run_event(run, |stored| {
            head = stored.seq;
            last = match stored.event {
                Event::Imported => LastEventKind::Imported,
                _ => LastEventKind::Other,
            };
            ends.apply_event(&stored.event);
            EventVisitControl::Continue
        })
        .await?;
        Ok((ends, head, last))
    }

    /// The open nodes under the new definition; those that have it already are left out.
    async fn repin_nodes_to_definition(
        &self,
        row: &RunRow,
        open_nodes: Vec<GuidedNode>,
        to: &CatalogueEntry,
    ) -> Result<Vec<GuidedNode>, GuidedRunError> {
        let mut moved = Vec::new();
        for node in open_nodes.into_iter().filter(|node| *node.definition != *to.hash) {
            let from = self.load_pinned_definition(row.id, &row.workflow.name, &node.definition).await?;
            let context = self.load_full_node_context(row.id, &node).await?;
            let standing =
                trackway_definition::repin_to_definition(&from, &to.definition, &node.position, &context)
                    .map_err(|block| GuidedRunError::CannotMigrate { run: row.id, why: block.message })?;
            input_size_limits::check_context_size(&standing.context)?;
            moved.push(GuidedNode {
                definition: to.hash.to_string(),
                position: standing.position,
                context: standing.context,
                context_refs: BTreeMap::new(),
                pending: standing.pending,
                ..node
            });
        }
        Ok(moved)
    }
}
