//! Answering a node, and looking at one.
//!
//! An answer costs one read (the node with its run, and whether this very answer is recorded), another
//! where the definition is not in memory, and one append: the same in a run of ten events and in one of
//! ten thousand, with one branch or a hundred. An output with nothing in it costs one more. A repetition costs the one read; so does a look, with the
//! definition.

use serde_json::Value;
use trackway_domain::{
    Access, AckId, AnsweredNode, Block, Branch, Consent, GuidedCommand, NodeAnswer, NodeId, Object,
    RunId, Seal, StateName,
};
use trackway_engine::{GuidedReply, Refusal, guided_run_accepts};
use trackway_ports::AttemptKey;

use super::{
    Advance, Advanced, Guide, GuideError, Position,
    answer::{self, Look},
    bounds,
    digest::digest,
    execute::{Executed, With, indexed, refused},
    place::Place,
};

/// Lost races in a row before an answer is given up. Each is lost to an append that somebody else got
/// through, so the run goes on in any case; losing this often takes as many agents at one run.
/// Limit (Sessions): lost races before an answer is refused.
pub(super) const TRIES_MAX: usize = 50;

impl Guide {
    /// Answers a node. The same answer again is told what it was told.
    pub async fn advance(
        &self,
        access: &Access,
        mut advance: Advance,
    ) -> Result<Advanced, GuideError> {
        bounds::inputs(&advance.inputs)?;
        advance.inputs.notes = advance.inputs.notes.take().and_then(without_end);
        if is_empty(advance.inputs.output.as_ref())
            && !self.asks_for_output(access, &advance).await?
        {
            advance.inputs.output = None;
        }
        let Advance { run, node, ack, .. } = advance;
        let key = AttemptKey { run, node, ack, digest: digest(&advance.inputs) };
        for _ in 0..TRIES_MAX {
            let (place, recorded) = self.asked(access, &key).await?;
            if let Some((node, attempt)) = recorded {
                let again = answer::of_attempt(&place.row, &node, attempt);
                return Ok(Advanced::Position(Box::new(again)));
            }
            match guided_run_accepts(place.row.state, place.is_unadopted) {
                // One that nobody has adopted can be looked at where it is complete.
                Err(Refusal::NotAdopted) if place.node.pending.is_none() => {}
                accepts => accepts.map_err(|refusal| refused(run, refusal))?,
            }
            if place.node.pending.is_none() {
                let seen = self.seen(place, advance.seal).await?;
                return Ok(Advanced::Position(Box::new(seen)));
            }
            if let Some(advanced) = self.attempt(place, &advance, &key).await? {
                return Ok(advanced);
            }
        }
        Err(too_busy(run))
    }

    /// Whether an output with nothing in it says something at this node. Where none is asked for it is the
    /// same answer as one without.
    async fn asks_for_output(&self, access: &Access, at: &Advance) -> Result<bool, GuideError> {
        let place = self.place(access, at.run, at.node).await?;
        Ok(place.node.pending.is_some_and(|pending| pending.output.is_some()))
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
        let context = self.whole_context(run, node).await?;
        let result =
            trackway_definition::advance(&definition, &node.walk, &context, &advance.inputs);
        if let Ok(step) = &result {
            bounds::context(&step.context)?;
        }
        let mut warning = self.drift(workflow, &node.definition).await;
        if warning.is_none() && place.branches > 0 {
            warning = self.damage_below(run, node.id).await?;
        }
        // Only who does not get on is told of the branch that the node is; it may have to be read.
        let stays = result.is_err() || advance.consent == Consent::Given(false);
        let branch = if stays { self.came_as(&place).await? } else { Branch::FIRST };
        let at = AnsweredNode {
            node: node.clone(),
            context,
            seq: place.made,
            branches: place.branches,
            blocked: place.blocked,
            branch,
        };
        let answer = NodeAnswer {
            at,
            ack: key.ack,
            digest: key.digest.clone(),
            inputs: advance.inputs.clone(),
            consent: advance.consent,
            seal: advance.seal.clone(),
            result,
            warning,
        };
        let command = GuidedCommand::Answer(Box::new(answer));
        let indexed = indexed(&place.row, place.head, place.is_unadopted);
        let executed = self.execute(run, Some(indexed), command, With::default()).await?;
        let Executed::Done(Some(reply)) = executed else { return Ok(None) };
        Ok(match *reply {
            GuidedReply::Attempted(attempt) => {
                let position = answer::of_attempt(&place.row, node, attempt);
                Some(Advanced::Position(Box::new(position)))
            }
            GuidedReply::ConsentNeeded(pending) => Some(Advanced::AskFirst(pending)),
            GuidedReply::Opened { .. } => None,
        })
    }

    /// The node again, with a fresh ack. Nothing is recorded.
    pub async fn look(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        seal: Seal,
    ) -> Result<Position, GuideError> {
        let place = self.place(access, run, node).await?;
        self.seen(place, seal).await
    }

    /// The node as it is, with a fresh ack.
    pub(super) async fn seen(&self, place: Place, seal: Seal) -> Result<Position, GuideError> {
        let branch = self.came_as(&place).await?;
        let over = match guided_run_accepts(place.row.state, place.is_unadopted) {
            Ok(()) => None,
            Err(Refusal::Ended { state }) => Some(over(place.row.id, state)),
            Err(_) => Some(unadopted(place.row.id)),
        };
        let Place { node, row, .. } = place;
        let workflow = &row.workflow.name;
        let definition = self.definition(row.id, workflow, &node.definition).await?;
        let look = Look {
            ack: AckId::compact(self.options.ids.uuid()),
            branch,
            over,
            warnings: self.drift(workflow, &node.definition).await.into_iter().collect(),
            guidance: self.rules(&definition).await,
            seal,
        };
        Ok(answer::of_look(&row, node, look))
    }
}

/// Notes that differ in the white space at their end are the same notes; notes with nothing else are none.
fn without_end(mut notes: String) -> Option<String> {
    notes.truncate(notes.trim_end().len());
    Some(notes).filter(|notes| !notes.is_empty())
}

fn is_empty(output: Option<&Value>) -> bool {
    output.and_then(Value::as_object).is_some_and(Object::is_empty)
}

/// What is said to whoever looks at a run that somebody ended. It is no error: there is something to see.
fn over(run: RunId, state: StateName) -> Block {
    let ended = GuideError::Ended { run, state };
    let message =
        format!("{ended}: nothing can be answered any more. Begin another with workflow_start.");
    Block { code: ended.code().as_str().to_owned(), message, needs: Vec::new() }
}

/// The same for a run that came from elsewhere.
fn unadopted(run: RunId) -> Block {
    let refused = GuideError::NotAdopted { run };
    let message = format!("{refused}: `trackway runs adopt {run}` lets it go on here.");
    Block { code: refused.code().as_str().to_owned(), message, needs: Vec::new() }
}

pub(super) fn too_busy(run: RunId) -> GuideError {
    let reason = format!("{run} is changed by too many at once; send the same call again");
    GuideError::Unavailable { reason }
}
