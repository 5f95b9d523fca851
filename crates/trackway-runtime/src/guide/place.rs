//! Finding a node, for a caller who may see its run.

use trackway_domain::{
    Access, Attempt, AttemptOutcome, Branch, Event, Guided, Node, NodeId, RunId, Seq,
};
use trackway_ports::{AttemptKey, NodePlace, RunRow, Stored, attempt_of, node_of};

use super::{
    Guide, GuideError,
    store::{Next, unreadable},
};

/// A node, and what is needed to answer it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) node: Node,
    /// Number of the event that made it, or read it anew last.
    pub(super) made: Seq,
    /// Number of the run's last event.
    pub(super) head: Seq,
    /// The run was imported, and nobody has adopted it.
    pub(super) is_unadopted: bool,
    pub(super) row: RunRow,
    /// How many branches have grown from it.
    pub(super) branches: u32,
    /// How many answers to it were blocked.
    pub(super) blocked: u32,
    /// Which branch it was when it was made. None where it was read anew since: then the log knows.
    pub(super) came_as: Option<Branch>,
}

impl Guide {
    /// The node, for its caller. For anybody else there is no such run.
    pub(super) async fn place(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
    ) -> Result<Place, GuideError> {
        let found = self.options.journal.node(run, node).await;
        match found.map_err(|error| unreadable(run, error))? {
            Some(found) => placed(access, run, node, found),
            None => {
                self.row(access, run).await?;
                Err(GuideError::UnknownNode { run, node })
            }
        }
    }

    /// The node that an answer is for, and the record of this very answer, where there is one, with the
    /// node as it was then.
    pub(super) async fn asked(
        &self,
        access: &Access,
        key: &AttemptKey,
    ) -> Result<(Place, Option<(Node, Attempt)>), GuideError> {
        let AttemptKey { run, node, .. } = *key;
        let journal = &self.options.journal;
        let (place, stored) = match journal.asked(key.clone()).await {
            Ok(Some(asked)) => (placed(access, run, node, asked.place)?, asked.attempt),
            // Something is wrong or lacking. One after the other: who may see the run comes before what
            // is damaged in it. The node before the attempt: an answer that is recorded between the two
            // reads is found by the second, and one that is recorded after it makes the append fail.
            Ok(None) | Err(_) => {
                let place = self.place(access, run, node).await?;
                let stored = journal.attempt(key.clone()).await;
                (place, stored.map_err(|error| unreadable(run, error))?)
            }
        };
        let recorded = match stored {
            Some(stored) => Some(self.recorded(&place, key, &stored).await?),
            None => None,
        };
        Ok((place, recorded))
    }

    pub(super) async fn row(&self, access: &Access, run: RunId) -> Result<RunRow, GuideError> {
        let row = self.options.journal.run(run).await;
        let row = row.map_err(|error| unreadable(run, error))?;
        row.filter(|row| access.covers(&row.caller)).ok_or(GuideError::UnknownRun { run })
    }

    /// Which branch the node was when it was made: whoever looks at it or does not get on from it is told
    /// what was told to whoever came to it.
    pub(super) async fn came_as(&self, place: &Place) -> Result<Branch, GuideError> {
        if let Some(branch) = place.came_as {
            return Ok(branch);
        }
        let mut found = None;
        self.each_event(place.row.id, |stored| {
            found = made_as(&stored.event, place.node.id);
            if found.is_some() { Next::Enough } else { Next::More }
        })
        .await?;
        Ok(found.unwrap_or(Branch::FIRST))
    }

    /// The node as the log had it before that event.
    async fn node_before(&self, run: RunId, id: NodeId, before: Seq) -> Result<Node, GuideError> {
        let mut found = None;
        self.each_event(run, |stored| {
            if stored.seq >= before {
                return Next::Enough;
            }
            if let Some(node) = node_of(&stored.event).filter(|node| node.id == id) {
                found = Some(node.clone());
            }
            Next::More
        })
        .await?;
        found.ok_or(GuideError::UnknownNode { run, node: id })
    }

    /// What the record says, with the node as it was then.
    async fn recorded(
        &self,
        place: &Place,
        key: &AttemptKey,
        stored: &Stored,
    ) -> Result<(Node, Attempt), GuideError> {
        let attempt = attempt_of(&stored.event).filter(|attempt| is_of(attempt, key));
        let Some(attempt) = attempt else {
            return Err(GuideError::Damaged { run: key.run, reason: "its index is wrong".into() });
        };
        // Read by another definition since: the answer that was given showed the step of the first.
        let node = match place.made > stored.seq {
            true => self.node_before(key.run, place.node.id, stored.seq).await?,
            false => place.node.clone(),
        };
        Ok((node, attempt.clone()))
    }
}

/// What was found, for its caller. For anybody else there is no such run.
fn placed(
    access: &Access,
    run: RunId,
    node: NodeId,
    found: NodePlace,
) -> Result<Place, GuideError> {
    if !access.covers(&found.row.caller) {
        return Err(GuideError::UnknownRun { run });
    }
    let NodePlace { made, head, is_unadopted, row, branches, blocked } = found;
    let made_seq = made.seq;
    match node_of(&made.event).filter(|found| found.id == node) {
        Some(node) => {
            let came_as = made_as(&made.event, node.id);
            let node = node.clone();
            let made = made_seq;
            Ok(Place { node, made, head, is_unadopted, row, branches, blocked, came_as })
        }
        None => Err(GuideError::Damaged { run, reason: "its index is wrong".into() }),
    }
}

/// What was told of the branch by the event that made the node.
fn made_as(event: &Event, id: NodeId) -> Option<Branch> {
    let Event::Guided(guided) = event else { return None };
    match &**guided {
        Guided::Opened { node, answer, .. } if node.id == id => Some(answer.branch),
        Guided::Attempted(Attempt { outcome: AttemptOutcome::Advanced(node), answer, .. })
            if node.id == id =>
        {
            Some(answer.branch)
        }
        _ => None,
    }
}

fn is_of(attempt: &Attempt, key: &AttemptKey) -> bool {
    attempt.node == key.node && attempt.ack == key.ack && attempt.digest == key.digest
}
