//! Resource names: `tasks/ID` and `tasks/ID/pushNotificationConfigs/ID`.

use crate::fault::Fault;

const TASKS: &str = "tasks/";
const PUSHES: &str = "/pushNotificationConfigs/";

/// The id in the name of a task. `field` is the field with the name.
pub(super) fn task(name: &str, field: &str) -> Result<String, Fault> {
    match name.strip_prefix(TASKS) {
        Some(id) if !id.is_empty() && !id.contains('/') => Ok(id.to_owned()),
        _ => Err(wrong(field, "tasks/ID")),
    }
}

/// The ids in the name of a push notification configuration.
pub(super) fn push(name: &str) -> Result<(String, String), Fault> {
    let read = || {
        let (task, id) = name.split_once(PUSHES)?;
        let task = self::task(task, "name").ok()?;
        (!id.is_empty() && !id.contains('/')).then(|| (task, id.to_owned()))
    };
    read().ok_or_else(|| wrong("name", "tasks/ID/pushNotificationConfigs/ID"))
}

pub(super) fn push_name(task: &str, id: &str) -> String {
    format!("{TASKS}{task}{PUSHES}{id}")
}

fn wrong(field: &str, form: &str) -> Fault {
    let why = format!("{field} is not of the form {form}");
    Fault::param(format!("/params/{field}"), why, "send the name that way")
}
