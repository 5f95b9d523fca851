//! Messages that are invoked with artifacts: where the content comes from, what is refused, and in which
//! session the task runs.

mod file_addresses;
mod file_parts;
mod own_artifacts;
mod run_sessions;
mod test_desk;
