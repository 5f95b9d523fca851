//! Answering a node, and looking at one.
//!
//! An answer costs one read (the node with its run, and whether this very answer is recorded), another
//! where the definition is not in memory, and one append: the same in a run of ten events and in one of
//! ten thousand, with one branch or a hundred. A repetition costs the one read; so does a look, with the
//! definition.

use trackway_domain::{AckId, Caller, NodeId, RunId, Seal};
use trackway_ports::{Append, AppendError, AttemptKey};

use super::{
    Advance, Advanced, Guide, GuideError, Position,
    answer::{self, Look},
    bounds,
    decide::{self, Closed, Verdict},
    digest::digest,
    place::Place,
    store::unwritable,
};

/// Lost races in a row before an answer is given up. Each is lost to an append that somebody else got
/// through, so the run goes on in any case; losing this often takes as many agents at one run.
pub(super) const TRIES_MAX: usize = 50;

impl Guide {
    pub(super) async fn answer(
        &self,
        caller: &Caller,
        advance: Advance,
    ) -> Result<Advanced, GuideError> {
        bounds::inputs(&advance.inputs)?;
        let Advance { run, node, ack, .. } = advance;
        let key = AttemptKey { run, node, ack, digest: digest(&advance.inputs) };
        for _ in 0..TRIES_MAX {
            let (place, recorded) = self.asked(caller, &key).await?;
            if let Some((node, attempt)) = recorded {
                let again = answer::of_attempt(&place.row, &node, attempt);
                return Ok(Advanced::Position(Box::new(again)));
            }
            match decide::closed(place.asked()) {
                None => {}
                Some(Closed::Ended(state)) => return Err(GuideError::Ended { run, state }),
                Some(Closed::Complete) => {
                    let seen = self.seen(place, advance.seal).await?;
                    return Ok(Advanced::Position(Box::new(seen)));
                }
            }
            if let Some(advanced) = self.attempt(place, &advance, &key).await? {
                return Ok(advanced);
            }
        }
        Err(too_busy(run))
    }

    /// One try. None where somebody else was faster, and it is to be looked at again.
    async fn attempt(
        &self,
        place: Place,
        advance: &Advance,
        key: &AttemptKey,
    ) -> Result<Option<Advanced>, GuideError> {
        let (run, node) = (key.run, &place.node);
        let workflow = &place.row.workflow.name;
        let definition = self.definition(run, workflow, &node.definition).await?;
        let came_to =
            trackway_definition::advance(&definition, &node.walk, &node.context, &advance.inputs);
        if let Ok(standing) = &came_to {
            bounds::context(&standing.context)?;
        }
        let drift = self.drift(workflow, &node.definition).await;
        let now = self.now();
        let verdict = self.decided(now, |world| {
            decide::answered(place.asked(), advance, key.digest.clone(), came_to, drift, world)
        });
        let recorded = match verdict {
            Verdict::AskFirst(pending) => return Ok(Some(Advanced::AskFirst(pending))),
            Verdict::Record(recorded) => *recorded,
        };
        let mut append = Append::new(run, place.head, now);
        append.events = recorded.events();
        append.row = recorded.completes.map(|completion| completion.row);
        match self.commit(append).await {
            Ok(()) => {
                let position = answer::of_attempt(&place.row, node, recorded.attempt);
                Ok(Some(Advanced::Position(Box::new(position))))
            }
            Err(AppendError::Conflict { .. }) => Ok(None),
            Err(error) => Err(unwritable(&error)),
        }
    }

    pub(super) async fn see(
        &self,
        caller: &Caller,
        run: RunId,
        node: NodeId,
        seal: Seal,
    ) -> Result<Position, GuideError> {
        let place = self.place(caller, run, node).await?;
        self.seen(place, seal).await
    }

    /// The node as it is, with a fresh ack.
    pub(super) async fn seen(&self, place: Place, seal: Seal) -> Result<Position, GuideError> {
        let Place { node, row, branches, .. } = place;
        let workflow = &row.workflow.name;
        let definition = self.definition(row.id, workflow, &node.definition).await?;
        let look = Look {
            ack: AckId::new(self.options.ids.uuid()),
            branch: decide::seen(branches),
            warnings: self.drift(workflow, &node.definition).await.into_iter().collect(),
            guidance: definition.guidance.clone(),
            seal,
        };
        Ok(answer::of_look(&row, node, look))
    }
}

pub(super) fn too_busy(run: RunId) -> GuideError {
    let reason = format!("{run} is changed by too many at once; send the same call again");
    GuideError::Store { reason }
}
