//! The names of states.

use trackway_domain::StateName;

/// `unknown` is nothing that a task of 1.0 can be in; it is what protobuf calls unspecified.
pub(super) const fn written(state: StateName) -> &'static str {
    match state {
        StateName::Submitted => "TASK_STATE_SUBMITTED",
        StateName::Working => "TASK_STATE_WORKING",
        StateName::InputRequired => "TASK_STATE_INPUT_REQUIRED",
        StateName::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        StateName::Completed => "TASK_STATE_COMPLETED",
        StateName::Failed => "TASK_STATE_FAILED",
        StateName::Canceled => "TASK_STATE_CANCELED",
        StateName::Rejected => "TASK_STATE_REJECTED",
        StateName::Unknown => "TASK_STATE_UNSPECIFIED",
    }
}

/// The state of that name.
pub(super) fn read(name: &str) -> Option<StateName> {
    StateName::ALL.into_iter().find(|state| written(*state) == name)
}
