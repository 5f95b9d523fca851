//! Resource names: `tasks/ID` and `tasks/ID/pushNotificationConfigs/ID`.

use crate::error::A2aError;

const TASKS: &str = "tasks/";
const PUSHES: &str = "/pushNotificationConfigs/";

/// The id in the name of a task. `field` is the field with the name.
pub(super) fn parse_task_resource_name(name: &str, field: &str) -> Result<String, A2aError> {
    match name.strip_prefix(TASKS) {
        Some(id) if !id.is_empty() && !id.contains('/') => Ok(id.to_owned()),
        _ => Err(invalid_resource_name_error(field, "tasks/ID")),
    }
}

/// The ids in the name of a push notification configuration.
pub(super) fn parse_push_resource_name(name: &str) -> Result<(String, String), A2aError> {
    let read = || {
        let (task, id) = name.split_once(PUSHES)?;
        let task = self::parse_task_resource_name(task, "name").ok()?;
        (!id.is_empty() && !id.contains('/')).then(|| (task, id.to_owned()))
    };
    read().ok_or_else(|| invalid_resource_name_error("name", "tasks/ID/pushNotificationConfigs/ID"))
}

pub(super) fn format_push_resource_name(task: &str, id: &str) -> String {
    format!("{TASKS}{task}{PUSHES}{id}")
}

fn invalid_resource_name_error(field: &str, form: &str) -> A2aError {
    let why = format!("{field} is not of the form {form}");
    A2aError::invalid_param_error(format!("/params/{field}"), why, "send the name that way")
}
