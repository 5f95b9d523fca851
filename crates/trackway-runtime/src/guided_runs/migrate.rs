//! Moves a run to the current definition. It happens only on request, and it reads the run's whole log.

use std::collections::BTreeMap;

use trackway_domain::{Access, Event, GuidedCommand, Node, RunId, Seq};
use trackway_engine::guided_run_accepts;
use trackway_ports::{PinnedDefinition, RunRow};

use super::{
    GuidedRunError, GuidedRuns, MigrateResponse,
    advance::{TRIES_MAX, too_busy_error},
    execute::{AppendExtras, ExecuteOutcome, error_from_refusal, run_from_row},
    loading::VisitControl,
    open_nodes::OpenNodes,
    size_limits,
};
use crate::CatalogueEntry;

/// What the last event of a run shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastEvent {
    /// The run was imported and not adopted since.
    Imported,
    Other,
}

impl GuidedRuns {
    /// Moves the open nodes of a run to the current definition.
    pub async fn migrate(&self, access: &Access, run: RunId) -> Result<MigrateResponse, GuidedRunError> {
        for _ in 0..TRIES_MAX {
            let row = self.load_run_row(access, run).await?;
            let (ends, head, last) = self.load_open_nodes(run).await?;
            guided_run_accepts(row.state, last == LastEvent::Imported)
                .map_err(|refusal| error_from_refusal(run, refusal))?;
            if !ends.is_guided {
                let why = "no outside agent drives it".into();
                return Err(GuidedRunError::CannotMigrate { run, why });
            }
            let known = self.find_startable(&row.workflow.name).await?;
            let ends: Vec<Node> = ends.into_pending().collect();
            let from = ends.first().map_or(&row.workflow.version, |node| &node.definition).clone();
            let to = known.hash.to_string();
            let moved = self.repin_nodes(&row, ends, &known).await?;
            let nodes = moved.iter().map(|node| node.id).collect();
            let migrated = MigrateResponse { from, to, nodes };
            if moved.is_empty() {
                return Ok(migrated);
            }
            let pins =
                vec![PinnedDefinition { hash: migrated.to.clone(), body: known.definition.normal_form() }];
            let indexed = run_from_row(&row, head, false);
            let command = GuidedCommand::Repin { nodes: moved };
            let with = AppendExtras { pins, ..AppendExtras::default() };
            match self.execute(run, Some(indexed), command, with).await? {
                ExecuteOutcome::LostRace => {}
                ExecuteOutcome::Done(_) | ExecuteOutcome::Repeated => return Ok(migrated),
            }
        }
        Err(too_busy_error(run))
    }

    /// The nodes without an answer, and the number of the run's last event.
    async fn load_open_nodes(&self, run: RunId) -> Result<(OpenNodes, Seq, LastEvent), GuidedRunError> {
        let (mut ends, mut head, mut last) = (OpenNodes::default(), 0, LastEvent::Other);
        self.for_each_event(run, |stored| {
            head = stored.seq;
            last = match stored.event {
                Event::Imported => LastEvent::Imported,
                _ => LastEvent::Other,
            };
            ends.apply(&stored.event);
            VisitControl::Continue
        })
        .await?;
        Ok((ends, head, last))
    }

    /// The open nodes under the new definition; those that have it already are left out.
    async fn repin_nodes(
        &self,
        row: &RunRow,
        ends: Vec<Node>,
        to: &CatalogueEntry,
    ) -> Result<Vec<Node>, GuidedRunError> {
        let mut moved = Vec::new();
        for node in ends.into_iter().filter(|node| *node.definition != *to.hash) {
            let from = self.load_definition(row.id, &row.workflow.name, &node.definition).await?;
            let context = self.load_full_context(row.id, &node).await?;
            let standing = trackway_definition::repin(&from, &to.definition, &node.position, &context)
                .map_err(|block| GuidedRunError::CannotMigrate { run: row.id, why: block.message })?;
            size_limits::check_context(&standing.context)?;
            moved.push(Node {
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
