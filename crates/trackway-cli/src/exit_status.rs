//! Exit codes. Scripts rely on them: a code never changes its meaning.

use std::process::ExitCode;

use trackway_domain::StateName;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// 0: done. For `run` and `runs resume`: the run completed.
    Done,
    /// 1: it could not be done; the message says why.
    Error,
    /// 2: the request is wrong: arguments, an unknown workflow or run, invalid input.
    Usage,
    /// 3: the run failed.
    Failed,
    /// 4: the run was rejected by its workflow.
    Rejected,
    /// 5: the run was canceled.
    Canceled,
    /// 6: the run waits for an answer.
    Waiting,
    /// 7: a program does not fit a run's log; that run is parked, or would be.
    ReplayMismatch,
    /// 130: interrupted by Ctrl-C, the convention of shells.
    Interrupted,
}

/// Shown below the help of the commands that drive a run.
pub(crate) const HELP: &str = "\
Exit codes:
  0  the run completed
  1  it could not be done; the message says why
  2  wrong arguments, unknown workflow or run, invalid input
  3  the run failed
  4  the run was rejected by its workflow
  5  the run was canceled
  6  the run waits for an answer
  7  the program does not fit the run's log
  130  interrupted by Ctrl-C";

impl ExitStatus {
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::Rejected => 4,
            Self::Canceled => 5,
            Self::Waiting => 6,
            Self::ReplayMismatch => 7,
            Self::Interrupted => 130,
        }
    }

    /// The exit code for a run in this state.
    pub(crate) const fn from_run_state(state: StateName) -> Self {
        match state {
            StateName::Completed => Self::Done,
            StateName::Failed => Self::Failed,
            StateName::Rejected => Self::Rejected,
            StateName::Canceled => Self::Canceled,
            StateName::InputRequired | StateName::AuthRequired => Self::Waiting,
            StateName::Submitted | StateName::Working | StateName::Unknown => Self::Error,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit.exit_code())
    }
}
