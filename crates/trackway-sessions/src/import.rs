//! A bundle becomes runs of this store: checked completely, and written completely or not at all.
//!
//! Ids, times, lineage and documents are those of the origin. Tokens are not: they were signed with keys
//! that are not in the bundle. A run that is already here is left alone if it is the same, and refused if
//! it is not. A program that was unfinished at the origin stays as it was: nothing drives it here until a
//! user adopts it.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use trackway_domain::{Caller, Event, JSON_DEPTH_MAX, RunId, SessionId, Timestamp};
use trackway_engine::{RunTree, SchemaChecker as _, StatusTime, imported_event_if_resumable};
use trackway_ports::{AppendError, PinnedDefinition, RunRow, decode_event};
use trackway_runtime::{CopiedRunLog, SchemaCache, import_copied_logs};

use super::{
    BundleError, ExpectedSigner, SessionsError, SessionsReader,
    bundle::{self, BundledRun, SessionBundle},
    export::definition_hash_in_event,
    run_log,
};

/// Levels that a record may have around a value that a door took in at its own bound.
/// Limit (Sessions): levels of a record in an imported bundle.
const RECORD_DEPTH_MAX: usize = JSON_DEPTH_MAX + 32;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleImportReport {
    pub session_id: SessionId,
    pub imported: Vec<RunId>,
    /// Runs that were already here, with the same content.
    pub skipped: Vec<RunId>,
    /// Fingerprint of the key that signed the bundle.
    pub signed_by: String,
}

/// A run that was checked.
struct CheckedBundleRun {
    row: RunRow,
    events: Vec<Event>,
    stamps: Vec<Timestamp>,
    definitions: BTreeSet<String>,
    guided: bool,
}

impl SessionsReader {
    /// Imports the bundle in this file. The store must be open for writing.
    pub async fn import_bundle(
        &self,
        file: &[u8],
        signer: Option<&ExpectedSigner>,
    ) -> Result<BundleImportReport, SessionsError> {
        let bundle = SessionBundle::parse_and_verify_bundle(file, signer)?;
        let runs = self.check_bundled_runs(&bundle)?;
        let pins = check_bundled_definitions(&bundle, &runs)?;
        let mut report = BundleImportReport {
            session_id: bundle.session_id.clone(),
            imported: Vec::new(),
            skipped: Vec::new(),
            signed_by: bundle.signer_fingerprint(),
        };
        let mut fresh = Vec::new();
        for run in runs {
            if self.is_run_already_stored(&run).await? {
                report.skipped.push(run.row.id);
            } else {
                fresh.push(run);
            }
        }
        report.imported = fresh.iter().map(|run| run.row.id).collect();
        self.append_imported_runs(fresh, &pins).await?;
        Ok(report)
    }

    fn check_bundled_runs(&self, bundle: &SessionBundle) -> Result<Vec<CheckedBundleRun>, BundleError> {
        if bundle.runs.is_empty() {
            return Err(BundleError::NotABundle { why: "it has no runs".to_owned() });
        }
        let mut ids = HashSet::new();
        let mut runs = Vec::with_capacity(bundle.runs.len());
        for run in &bundle.runs {
            if !ids.insert(run.run_id) {
                let why = "the bundle has it twice".to_owned();
                return Err(BundleError::Run { run: run.run_id, why });
            }
            runs.push(check_bundled_run(run, &bundle.session_id, &self.access.caller)?);
        }
        // A child belongs to its parent's session. A child with another parent could report to a run of
        // another caller.
        let orphan = |run: &&CheckedBundleRun| run.row.parent.is_some_and(|parent| !ids.contains(&parent));
        if let Some(orphan) = runs.iter().find(orphan) {
            let why = "its parent is not in the bundle".to_owned();
            return Err(BundleError::Run { run: orphan.row.id, why });
        }
        Ok(runs)
    }

    /// Whether the store has exactly this run. A run with the same id and other content is refused.
    async fn is_run_already_stored(&self, run: &CheckedBundleRun) -> Result<bool, SessionsError> {
        let id = run.row.id;
        let refused =
            |why: &str| Err(SessionsError::Bundle(BundleError::Run { run: id, why: why.to_owned() }));
        let Some(row) = self.journal.find_run(id).await? else { return Ok(false) };
        if row.caller != self.access.caller {
            return refused("it is here already and belongs to another caller");
        }
        let log = run_log::load_run_log(&*self.journal, id).await?;
        // The mark of the import is written by this store.
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

    /// One transaction, so that no reader sees a part of a session.
    async fn append_imported_runs(
        &self,
        runs: Vec<CheckedBundleRun>,
        pins: &[PinnedDefinition],
    ) -> Result<(), SessionsError> {
        let logs = runs.into_iter().map(|run| to_copied_log(run, pins)).collect();
        match import_copied_logs(&*self.journal, logs).await {
            Ok(()) => Ok(()),
            Err(AppendError::Conflict { run, .. }) => {
                let why = "another process wrote it here at the same time; import again".to_owned();
                Err(BundleError::Run { run, why }.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn to_copied_log(mut run: CheckedBundleRun, pins: &[PinnedDefinition]) -> CopiedRunLog {
    let at = run.stamps.last().copied().unwrap_or_default();
    let decided = imported_event_if_resumable(&run.row.workflow, run.row.state, run.guided);
    run.stamps.extend(decided.iter().map(|_| at));
    run.events.extend(decided);
    let needs =
        |pin: &&PinnedDefinition| run.definitions.contains(&pin.hash) || run.row.workflow.version == pin.hash;
    CopiedRunLog {
        pins: pins.iter().filter(needs).cloned().collect(),
        events: run.events,
        row: run.row,
        stamps: run.stamps,
        timers: Vec::new(),
    }
}

/// The run, if every event can be read and follows from those before it.
fn check_bundled_run(
    run: &BundledRun,
    session: &SessionId,
    caller: &Caller,
) -> Result<CheckedBundleRun, BundleError> {
    let id = run.run_id;
    let mut events = Vec::with_capacity(run.events.len());
    let mut stamps = Vec::with_capacity(run.events.len());
    let mut track: Option<(RunTree, StatusTime)> = None;
    let (mut asked, schemas) = (HashMap::new(), SchemaCache::default());
    for (record, seq) in run.events.iter().zip(1..) {
        let wrong = |why: String| BundleError::Event { run: id, seq, why };
        if record.seq != seq {
            return Err(wrong(format!("it has number {}", record.seq)));
        }
        if max_json_nesting_depth(&record.body) > RECORD_DEPTH_MAX {
            return Err(wrong("it is nested too deeply".to_owned()));
        }
        let mut event = decode_event(record.format, &record.body)
            .map_err(|error| wrong(format_error_with_cause(&error)))?;
        match &mut track {
            None => {
                track = Some(
                    check_and_reassign_first_event(&mut event, id, session, caller, record.at)
                        .map_err(wrong)?,
                )
            }
            Some((track, status)) => {
                track.apply_event(&event, record.at).map_err(|misfit| wrong(misfit.to_string()))?;
                status.apply_event(&event, record.at);
            }
        }
        match &event {
            Event::Asked { question, .. } => drop(asked.insert(question.id, question.clone())),
            Event::Resumed { request, input, .. } => {
                let question = asked.get(&request.question);
                let problems = question.map(|question| schemas.check_against_schema(&question.schema, input));
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
        return Err(BundleError::Run { run: id, why: "it has no events".to_owned() });
    };
    let definitions = events.iter().filter_map(definition_hash_in_event).collect();
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
    Ok(CheckedBundleRun { row, events, stamps, definitions, guided })
}

/// The first event: the run's submission, which from now on belongs to the caller that imports it.
fn check_and_reassign_first_event(
    event: &mut Event,
    run: RunId,
    session: &SessionId,
    caller: &Caller,
    at: Timestamp,
) -> Result<(RunTree, StatusTime), String> {
    let Event::Submitted(submission) = event else {
        return Err("a run begins with its submission".to_owned());
    };
    if submission.run != run || submission.session != *session {
        return Err("it is the submission of another run or session".to_owned());
    }
    submission.caller = caller.clone();
    Ok((RunTree::from_submission(submission, at), StatusTime::from_submission_time(at)))
}

/// Every definition that a run needs, each under its own hash, and no others.
fn check_bundled_definitions(
    bundle: &SessionBundle,
    runs: &[CheckedBundleRun],
) -> Result<Vec<PinnedDefinition>, BundleError> {
    let needed: BTreeSet<&str> = runs.iter().flat_map(|run| &run.definitions).map(String::as_str).collect();
    let versions: BTreeSet<&str> = runs.iter().map(|run| run.row.workflow.version.as_str()).collect();
    let mut pins: Vec<PinnedDefinition> = Vec::with_capacity(bundle.definitions.len());
    let wrong = |hash: &str, why| BundleError::Definition { hash: hash.to_owned(), why };
    for definition in &bundle.definitions {
        let hash = definition.hash.as_str();
        if bundle::sha256_hash_name(definition.body.as_bytes()) != hash {
            return Err(wrong(hash, "its text has another hash"));
        }
        if !needed.contains(hash) && !versions.contains(hash) {
            return Err(wrong(hash, "no run of the bundle is pinned to it"));
        }
        if pins.iter().any(|pin| pin.hash == hash) {
            return Err(wrong(hash, "the bundle has it twice"));
        }
        pins.push(PinnedDefinition { hash: hash.to_owned(), body: definition.body.clone() });
    }
    match needed.iter().find(|hash| !pins.iter().any(|pin| pin.hash == **hash)) {
        Some(missing) => Err(wrong(missing, "a run is pinned to it, and the bundle lacks it")),
        None => Ok(pins),
    }
}

/// How many brackets of a JSON text are open at once, at most. Records are parsed without the usual limit
/// on depth, so records from outside are checked first.
fn max_json_nesting_depth(text: &str) -> usize {
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
fn format_error_with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
