//! Moving a run to the definition as it is now. People ask for it; it never happens by itself, and it
//! goes through the run's whole log.

use std::collections::BTreeMap;

use trackway_domain::{Access, Event, GuidedCommand, Node, RunId, Seq};
use trackway_engine::guided_run_accepts;
use trackway_ports::{Pinned, RunRow};

use super::{
    Guide, GuideError, Migrated,
    advance::{TRIES_MAX, too_busy},
    bounds,
    ends::Ends,
    execute::{Executed, With, indexed, refused},
    store::Next,
};
use crate::Known;

/// What the last event of a run says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nobody has adopted it since.
    Imported,
    Other,
}

impl Guide {
    /// Reads the unfinished ends of a run by the definition as it is now.
    pub async fn migrate(&self, access: &Access, run: RunId) -> Result<Migrated, GuideError> {
        for _ in 0..TRIES_MAX {
            let row = self.row(access, run).await?;
            let (ends, head, last) = self.ends(run).await?;
            guided_run_accepts(row.state, last == Last::Imported)
                .map_err(|refusal| refused(run, refusal))?;
            if !ends.guided {
                let why = "no outside agent drives it".into();
                return Err(GuideError::CannotMigrate { run, why });
            }
            let known = self.startable(&row.workflow.name).await?;
            let ends: Vec<Node> = ends.unfinished().collect();
            let from = ends.first().map_or(&row.workflow.version, |node| &node.definition).clone();
            let to = known.hash.to_string();
            let moved = self.moved(&row, ends, &known).await?;
            let nodes = moved.iter().map(|node| node.id).collect();
            let migrated = Migrated { from, to, nodes };
            if moved.is_empty() {
                return Ok(migrated);
            }
            let pins = vec![Pinned { hash: migrated.to.clone(), body: known.definition.normal() }];
            let indexed = indexed(&row, head, false);
            let command = GuidedCommand::Repin { nodes: moved };
            let with = With { pins, ..With::default() };
            match self.execute(run, Some(indexed), command, with).await? {
                Executed::Lost => {}
                Executed::Done(_) | Executed::Repeated => return Ok(migrated),
            }
        }
        Err(too_busy(run))
    }

    /// The nodes that nobody has answered, and the number of the run's last event.
    async fn ends(&self, run: RunId) -> Result<(Ends, Seq, Last), GuideError> {
        let (mut ends, mut head, mut last) = (Ends::default(), 0, Last::Other);
        self.each_event(run, |stored| {
            head = stored.seq;
            last = match stored.event {
                Event::Imported => Last::Imported,
                _ => Last::Other,
            };
            ends.apply(&stored.event);
            Next::More
        })
        .await?;
        Ok((ends, head, last))
    }

    /// The ends as the new definition has them; those that have it already are left out.
    async fn moved(
        &self,
        row: &RunRow,
        ends: Vec<Node>,
        to: &Known,
    ) -> Result<Vec<Node>, GuideError> {
        let mut moved = Vec::new();
        for node in ends.into_iter().filter(|node| *node.definition != *to.hash) {
            let from = self.definition(row.id, &row.workflow.name, &node.definition).await?;
            let context = self.whole_context(row.id, &node).await?;
            let standing = trackway_definition::repin(&from, &to.definition, &node.walk, &context)
                .map_err(|block| GuideError::CannotMigrate { run: row.id, why: block.message })?;
            bounds::context(&standing.context)?;
            moved.push(Node {
                definition: to.hash.to_string(),
                walk: standing.walk,
                context: standing.context,
                kept: BTreeMap::new(),
                pending: standing.pending,
                ..node
            });
        }
        Ok(moved)
    }
}
