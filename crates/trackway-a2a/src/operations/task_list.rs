//! Lists tasks, the newest status first.

use trackway_domain::{RunId, SessionId, StateName, Timestamp};
use trackway_ports::{StatusTimeCursor, StatusTimeQuery};
use trackway_runtime::Error;

use super::{AddressedAgent, HistoryLength, TaskSnapshot};
use crate::error::A2aError;

/// Tasks on a page if the client names no number, and the most that it may name.
/// Limit (A2A): tasks on a page if the client names no number.
const PAGE_DEFAULT: usize = 50;
/// Limit (A2A): tasks on one page of a listing.
const PAGE_MAX: usize = 100;

/// Limit (A2A): bytes of one page of a listing.
///
/// The next page continues after it.
const PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Which tasks to list, and where to start.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TaskQuery {
    pub(crate) session: Option<SessionId>,
    pub(crate) state: Option<StateName>,
    /// Only tasks whose status is from this time or later.
    pub(crate) since: Option<Timestamp>,
    pub(crate) page_size: Option<i64>,
    /// The token of an earlier page; empty for the first.
    pub(crate) page_token: String,
}

/// A page of tasks.
#[derive(Debug)]
pub(crate) struct TaskPage {
    pub(crate) tasks: Vec<TaskSnapshot>,
    /// Where the next page starts; empty at the end.
    pub(crate) next: String,
    pub(crate) size: usize,
    /// How many there are on all pages.
    pub(crate) total: u64,
}

impl AddressedAgent<'_> {
    /// A page ends at its size, or earlier if its tasks are large; it has at least one.
    pub(crate) async fn list_tasks(
        &self,
        query: TaskQuery,
        history: HistoryLength,
        artifacts: bool,
    ) -> Result<TaskPage, A2aError> {
        let size = check_task_page_size(query.page_size)?;
        let query = StatusTimeQuery {
            access: self.access.clone(),
            session: query.session,
            workflow: Some(self.program_info().name.clone()),
            state: query.state,
            since: query.since,
            after: parse_task_page_token(&query.page_token)?,
            // One more row than the page shows whether there is a next page.
            limit: size + 1,
        };
        let mut found = self.runtime.list_runs_by_status_time(query).await?;
        let more = found.rows.len() > size;
        found.rows.truncate(size);
        let mut next = match found.rows.last() {
            Some(last) if more => encode_task_page_token(last.status_time_cursor()),
            _ => String::new(),
        };
        let (mut tasks, mut total, mut last) = (Vec::with_capacity(found.rows.len()), 0, None);
        for row in found.rows {
            match self.runtime.current_run_view(&self.run_address_of(row.id)).await {
                Ok(view) => {
                    let (task, bytes) =
                        TaskSnapshot::snapshot_from_view(view).limit_history(history, artifacts);
                    total += bytes;
                    if let Some(last) = last.filter(|_| total > PAGE_BYTES_MAX) {
                        next = encode_task_page_token(last);
                        break;
                    }
                    tasks.push(task);
                    last = Some(row.status_time_cursor());
                }
                // A task that cannot be read must not hide the others.
                Err(Error::Damaged { run, reason }) => {
                    tracing::error!(%run, reason, "a run's log is damaged");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(TaskPage { tasks, next, size, total: found.total })
    }
}

fn check_task_page_size(requested: Option<i64>) -> Result<usize, A2aError> {
    match requested {
        None => Ok(PAGE_DEFAULT),
        Some(size) => match usize::try_from(size) {
            Ok(size) if (1..=PAGE_MAX).contains(&size) => Ok(size),
            _ => {
                let why = format!("pageSize: {size} is not from 1 to {PAGE_MAX}");
                Err(A2aError::invalid_param_error(
                    "/params/pageSize",
                    why,
                    "send a number from 1 to 100, or none",
                ))
            }
        },
    }
}

/// A position in the listing as text that a client returns unchanged.
fn encode_task_page_token(cursor: StatusTimeCursor) -> String {
    format!("{:x}.{}", cursor.status_at.millis(), cursor.id)
}

fn parse_task_page_token(token: &str) -> Result<Option<StatusTimeCursor>, A2aError> {
    if token.is_empty() {
        return Ok(None);
    }
    let read = || {
        let (at, id) = token.split_once('.')?;
        let status_at = Timestamp::from_millis(i64::from_str_radix(at, 16).ok()?);
        Some(StatusTimeCursor { status_at, id: id.parse::<RunId>().ok()? })
    };
    read().map(Some).ok_or_else(|| {
        let why = "pageToken: no page of this agent ended there";
        A2aError::invalid_param_error(
            "/params/pageToken",
            why,
            "repeat nextPageToken of the page before, or send none",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X5.
    #[test]
    fn page_tokens_round_trip_and_others_are_refused() {
        let id: RunId = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b".parse().unwrap();
        let there = StatusTimeCursor { status_at: Timestamp::from_millis(1_700_000_000_123), id };
        assert_eq!(parse_task_page_token(&encode_task_page_token(there)).unwrap(), Some(there));
        assert_eq!(parse_task_page_token("").unwrap(), None);
        for wrong in ["x", ".", "12", "12.run_x", "zz.run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b"] {
            assert_eq!(parse_task_page_token(wrong).unwrap_err().kind.json_rpc_code(), -32602, "{wrong}");
        }
    }

    #[test]
    fn page_size_has_bounds() {
        assert_eq!(check_task_page_size(None).unwrap(), 50);
        assert_eq!(check_task_page_size(Some(100)).unwrap(), 100);
        for wrong in [0, -1, 101, i64::MAX] {
            assert_eq!(check_task_page_size(Some(wrong)).unwrap_err().kind.json_rpc_code(), -32602);
        }
    }
}
