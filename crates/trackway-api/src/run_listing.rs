//! A page of runs, from any source of rows.

use trackway_domain::{Access, RunId};
use trackway_ports::{RunFilter, RunRow};

use super::wire_types::{RunList, RunListFilter, RunSummary};

/// Runs that the caller may see and that match. The run that stores a session's own notes is not
/// work, so it is left out unless the filter names its workflow.
pub(super) async fn list_visible_runs_with<E, F>(
    access: &Access,
    filter: RunListFilter,
    read: impl Fn(RunFilter, Option<RunId>, usize) -> F,
) -> Result<RunList, E>
where
    F: Future<Output = Result<Vec<RunRow>, E>>,
{
    let RunListFilter { workflow, states, session, mut before, limit } = filter;
    let hides_notes = workflow.is_none();
    let access = Some(access.clone());
    let wanted = RunFilter { access, session, workflow, states };
    let mut runs = Vec::new();
    while runs.len() < limit {
        let room = limit - runs.len();
        let rows = read(wanted.clone(), before, room).await?;
        let is_last = rows.len() < room;
        before = rows.last().map(|row| row.id);
        let shown = rows.into_iter().filter(|row| !hides_notes || !row.workflow.is_session_notes_workflow());
        runs.extend(shown.map(RunSummary::from));
        if is_last {
            return Ok(RunList { runs, next: None });
        }
    }
    Ok(RunList { runs, next: before })
}
