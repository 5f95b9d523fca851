//! A bundle becomes runs of this store: checked whole, and written whole or not at all.
//!
//! Ids, times, lineage and documents are those of the origin. Tokens are not: they were signed with
//! keys that did not come along. A run that is here already is left alone where it is the same, and
//! refused where it is not. A program that had not ended where it came from stays as it was: nothing
//! drives it here until somebody adopts it.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use trackway_domain::{Caller, Event, JSON_DEPTH_MAX, RunId, SessionId, Timestamp};
use trackway_engine::{RunTrack, Schemas as _, StatusTime, import};
use trackway_ports::{AppendError, Pinned, RunRow, decode};
use trackway_runtime::{CopiedLog, SchemaBook, import_logs};

use super::{
    BadBundle, SessionsError, SessionsReader, SignedBy,
    bundle::{self, Bundle, BundledRun},
    export::definition,
    log,
};

/// Levels that a record may have around a value that a door took in at its own bound.
/// Limit (Sessions): levels of a record in an imported bundle.
const RECORD_DEPTH_MAX: usize = JSON_DEPTH_MAX + 32;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    pub session_id: SessionId,
    pub imported: Vec<RunId>,
    /// Runs that were here already, the same.
    pub skipped: Vec<RunId>,
    /// Fingerprint of the key that signed the bundle.
    pub signed_by: String,
}

/// A run that was checked.
struct Checked {
    row: RunRow,
    events: Vec<Event>,
    stamps: Vec<Timestamp>,
    definitions: BTreeSet<String>,
    guided: bool,
}

impl SessionsReader {
    /// Takes in the bundle in this file. The store must have been opened for writing.
    pub async fn import(
        &self,
        file: &[u8],
        signer: Option<&SignedBy>,
    ) -> Result<Imported, SessionsError> {
        let bundle = Bundle::open(file, signer)?;
        let runs = self.checked(&bundle)?;
        let pins = pins(&bundle, &runs)?;
        let mut report = Imported {
            session_id: bundle.session_id.clone(),
            imported: Vec::new(),
            skipped: Vec::new(),
            signed_by: bundle.fingerprint(),
        };
        let mut fresh = Vec::new();
        for run in runs {
            if self.is_here(&run).await? {
                report.skipped.push(run.row.id);
            } else {
                fresh.push(run);
            }
        }
        report.imported = fresh.iter().map(|run| run.row.id).collect();
        self.write(fresh, &pins).await?;
        Ok(report)
    }

    fn checked(&self, bundle: &Bundle) -> Result<Vec<Checked>, BadBundle> {
        if bundle.runs.is_empty() {
            return Err(BadBundle::NotABundle { why: "it has no runs".to_owned() });
        }
        let mut ids = HashSet::new();
        let mut runs = Vec::with_capacity(bundle.runs.len());
        for run in &bundle.runs {
            if !ids.insert(run.run_id) {
                let why = "the bundle has it twice".to_owned();
                return Err(BadBundle::Run { run: run.run_id, why });
            }
            runs.push(check(run, &bundle.session_id, &self.access.caller)?);
        }
        // A child is of its parent's session. One that names another run could report to a stranger's.
        let orphan = |run: &&Checked| run.row.parent.is_some_and(|parent| !ids.contains(&parent));
        if let Some(orphan) = runs.iter().find(orphan) {
            let why = "its parent is not in the bundle".to_owned();
            return Err(BadBundle::Run { run: orphan.row.id, why });
        }
        Ok(runs)
    }

    /// Whether the store has this very run. One of the same id with another content is refused.
    async fn is_here(&self, run: &Checked) -> Result<bool, SessionsError> {
        let id = run.row.id;
        let refused =
            |why: &str| Err(SessionsError::Bundle(BadBundle::Run { run: id, why: why.to_owned() }));
        let Some(row) = self.journal.run(id).await? else { return Ok(false) };
        if row.caller != self.access.caller {
            return refused("it is here already and belongs to another caller");
        }
        let log = log::read(&*self.journal, id).await?;
        // The mark of the import is this store's own.
        let said = |(event, _): &(&Event, Timestamp)| !matches!(event, Event::Imported);
        let here = log.events.iter().map(|stored| (&stored.event, stored.at)).filter(said);
        let there = run.events.iter().zip(run.stamps.iter().copied()).filter(said);
        if log.damage.is_some() {
            refused("it is here already, and its log here is damaged")
        } else if here.eq(there) {
            Ok(true)
        } else {
            refused("it is here already with another content")
        }
    }

    /// In one transaction, so that nobody ever sees a part of a session.
    async fn write(&self, runs: Vec<Checked>, pins: &[Pinned]) -> Result<(), SessionsError> {
        let logs = runs.into_iter().map(|run| log_of(run, pins)).collect();
        match import_logs(&*self.journal, logs).await {
            Ok(()) => Ok(()),
            Err(AppendError::Conflict { run, .. }) => {
                let why = "somebody else wrote it here at the same time; import again".to_owned();
                Err(BadBundle::Run { run, why }.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn log_of(mut run: Checked, pins: &[Pinned]) -> CopiedLog {
    let at = run.stamps.last().copied().unwrap_or_default();
    let decided = import(&run.row.workflow, run.row.state, run.guided);
    run.stamps.extend(decided.iter().map(|_| at));
    run.events.extend(decided);
    let needs =
        |pin: &&Pinned| run.definitions.contains(&pin.hash) || run.row.workflow.version == pin.hash;
    CopiedLog {
        pins: pins.iter().filter(needs).cloned().collect(),
        events: run.events,
        row: run.row,
        stamps: run.stamps,
        timers: Vec::new(),
    }
}

/// The run, where every event can be read and follows from those before it.
fn check(run: &BundledRun, session: &SessionId, caller: &Caller) -> Result<Checked, BadBundle> {
    let id = run.run_id;
    let mut events = Vec::with_capacity(run.events.len());
    let mut stamps = Vec::with_capacity(run.events.len());
    let mut track: Option<(RunTrack, StatusTime)> = None;
    let (mut asked, schemas) = (HashMap::new(), SchemaBook::default());
    for (record, seq) in run.events.iter().zip(1..) {
        let wrong = |why: String| BadBundle::Event { run: id, seq, why };
        if record.seq != seq {
            return Err(wrong(format!("it has number {}", record.seq)));
        }
        if depth(&record.body) > RECORD_DEPTH_MAX {
            return Err(wrong("it is nested too deeply".to_owned()));
        }
        let mut event = decode(record.format, &record.body).map_err(|error| wrong(told(&error)))?;
        match &mut track {
            None => track = Some(begin(&mut event, id, session, caller, record.at).map_err(wrong)?),
            Some((track, status)) => {
                track.apply(&event, record.at).map_err(|misfit| wrong(misfit.to_string()))?;
                status.apply(&event, record.at);
            }
        }
        match &event {
            Event::Asked { question, .. } => drop(asked.insert(question.id, question.clone())),
            Event::Resumed { resume, input, .. } => {
                let question = asked.get(&resume.question);
                let problems = question.map(|question| schemas.check(&question.schema, input));
                if let Some(problem) = problems.iter().flatten().next() {
                    let why = format!("the answer does not fit its question: {}", problem.message);
                    return Err(wrong(why));
                }
            }
            _ => {}
        }
        events.push(event);
        stamps.push(record.at);
    }
    let Some((track, status)) = track else {
        return Err(BadBundle::Run { run: id, why: "it has no events".to_owned() });
    };
    let definitions = events.iter().filter_map(definition).collect();
    let row = RunRow {
        id,
        session: session.clone(),
        caller: caller.clone(),
        workflow: track.submission.workflow.clone(),
        parent: track.submission.parent,
        state: track.state(),
        runnable: false,
        parked: false,
        created_at: track.created_at,
        status_at: status.at,
    };
    let guided = track.submission.guided;
    Ok(Checked { row, events, stamps, definitions, guided })
}

/// The first event: the run's submission, which belongs to whoever imports it from here on.
fn begin(
    event: &mut Event,
    run: RunId,
    session: &SessionId,
    caller: &Caller,
    at: Timestamp,
) -> Result<(RunTrack, StatusTime), String> {
    let Event::Submitted(submission) = event else {
        return Err("a run begins with its submission".to_owned());
    };
    if submission.run != run || submission.session != *session {
        return Err("it is the submission of another run or session".to_owned());
    }
    submission.caller = caller.clone();
    Ok((RunTrack::begin(submission, at), StatusTime::begin(at)))
}

/// Every definition that a run needs, each under its own hash and none besides.
fn pins(bundle: &Bundle, runs: &[Checked]) -> Result<Vec<Pinned>, BadBundle> {
    let needed: BTreeSet<&str> =
        runs.iter().flat_map(|run| &run.definitions).map(String::as_str).collect();
    let versions: BTreeSet<&str> =
        runs.iter().map(|run| run.row.workflow.version.as_str()).collect();
    let mut pins: Vec<Pinned> = Vec::with_capacity(bundle.definitions.len());
    let wrong = |hash: &str, why| BadBundle::Definition { hash: hash.to_owned(), why };
    for definition in &bundle.definitions {
        let hash = definition.hash.as_str();
        if bundle::hash(definition.body.as_bytes()) != hash {
            return Err(wrong(hash, "its text has another hash"));
        }
        if !needed.contains(hash) && !versions.contains(hash) {
            return Err(wrong(hash, "no run of the bundle is pinned to it"));
        }
        if pins.iter().any(|pin| pin.hash == hash) {
            return Err(wrong(hash, "the bundle has it twice"));
        }
        pins.push(Pinned { hash: hash.to_owned(), body: definition.body.clone() });
    }
    match needed.iter().find(|hash| !pins.iter().any(|pin| pin.hash == **hash)) {
        Some(missing) => Err(wrong(missing, "a run is pinned to it, and the bundle lacks it")),
        None => Ok(pins),
    }
}

/// How many brackets of a JSON text are open at once, at most. Records are read without the usual
/// bound on depth, so whoever takes them from elsewhere looks first.
fn depth(text: &str) -> usize {
    let (mut open, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// An error with its cause, in one line.
fn told(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
