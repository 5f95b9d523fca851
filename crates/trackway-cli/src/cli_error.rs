//! Why a command failed, with hints that help the user to continue.

use std::{error::Error, io};

use trackway::{ApiKeysError, DataFolderError, ServerError, WorkspaceError, api::RunsError};
use trackway_domain::{ErrorCode, ValidationError};
use trackway_ports::ReadError;
use trackway_sqlite::OpenDatabaseError;

use crate::{exit_status::ExitStatus, finding::Finding, output_streams, text_format};

/// Printed as `error: …`, the causes below it, what is wrong in detail, and `hint: …` lines.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    detail_lines: Vec<(ErrorDetailKind, String)>,
    /// A code of the catalogue. A string, because a newer server may have more codes.
    pub(crate) code: Option<String>,
    pub(crate) exit: ExitStatus,
    /// What is wrong with an input, and the schema that it must satisfy.
    pub(crate) invalid: Option<Box<InvalidInputDetails>>,
    /// The reader has closed the pipe: `trackway runs list | head`.
    is_silent: bool,
    /// Further failures.
    other_errors: Vec<Self>,
}

/// The kinds of lines below the message, in the order of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorDetailKind {
    Cause,
    Detail,
    Hint,
}

#[derive(Debug, Clone)]
pub(crate) struct InvalidInputDetails {
    pub(crate) problems: Vec<ValidationError>,
    pub(crate) schema: serde_json::Value,
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            detail_lines: Vec::new(),
            code: None,
            exit: ExitStatus::Error,
            invalid: None,
            is_silent: false,
            other_errors: Vec::new(),
        }
    }

    /// An error and its causes.
    pub(crate) fn from_error(error: &dyn Error) -> Self {
        let mut failure = Self::new(error.to_string());
        if let Some(cause) = error.source() {
            failure = failure.with_cause(cause);
        }
        failure
    }

    /// Input that does not satisfy its schema.
    pub(crate) fn invalid_input(message: impl Into<String>, invalid: InvalidInputDetails) -> Self {
        let mut failure = Self::new(message).with_error_code(ErrorCode::InvalidInput.as_str());
        let problems = text_format::render_validation_errors(&invalid.problems);
        failure.detail_lines.extend(problems.into_iter().map(|line| (ErrorDetailKind::Detail, line)));
        failure.invalid = Some(Box::new(invalid));
        failure
    }

    /// An unknown name, with the known names as hints.
    pub(crate) fn unknown_workflow(message: impl Into<String>, name: &str, known_names: &[String]) -> Self {
        let mut failure = Self::new(message).with_error_code(ErrorCode::UnknownWorkflow.as_str());
        if let Some(meant) = trackway_definition::nearest_known_word(name, known_names) {
            failure = failure.with_hint(format!("did you mean {meant:?}?"));
        }
        failure.with_hint(format!("there are: {}", known_names.join(", ")))
    }

    /// A name that no peer has, with what was probably meant.
    pub(crate) fn unknown_peer(message: impl Into<String>, name: &str, known_names: &[String]) -> Self {
        let failure = Self::new(message).with_error_code(ErrorCode::UnknownPeer.as_str());
        match trackway_definition::nearest_known_word(name, known_names) {
            Some(meant) => failure.with_hint(format!("did you mean {meant:?}?")),
            None => failure.with_hint("`trackway peers list` shows them"),
        }
    }

    #[must_use]
    pub(crate) fn with_cause(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            self.detail_lines.push((ErrorDetailKind::Cause, format!("  caused by: {cause}")));
            next = cause.source();
        }
        self
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.detail_lines.push((ErrorDetailKind::Hint, format!("hint: {}", hint.into())));
        self
    }

    #[must_use]
    pub(crate) fn with_error_code(mut self, code: &str) -> Self {
        self.exit = match code {
            "invalid-input" | "invalid-request" | "unknown-workflow" | "unknown-run" | "unknown-session"
            | "unknown-artifact" | "unknown-peer" | "run-ended" | "session-mismatch" | "too-large" => {
                ExitStatus::Usage
            }
            "replay-mismatch" => ExitStatus::ReplayMismatch,
            _ => ExitStatus::Error,
        };
        self.code = Some(code.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn with_exit_status(mut self, exit: ExitStatus) -> Self {
        self.exit = exit;
        self
    }

    /// Adds a further failure, which is printed after it.
    #[must_use]
    pub(crate) fn with_other_error(mut self, other: Self) -> Self {
        self.other_errors.push(other);
        self
    }

    pub(crate) fn error_message(&self) -> &str {
        &self.message
    }

    /// Prints all of it to stderr.
    pub(crate) fn print_to_stderr(&self) {
        if self.is_silent {
            return;
        }
        output_streams::print_stderr_note(&format!(
            "error: {}",
            text_format::replace_control_chars(&self.message)
        ));
        let mut lines: Vec<_> = self.detail_lines.iter().collect();
        lines.sort_by_key(|(line, _)| *line);
        lines.iter().for_each(|(_, line)| {
            output_streams::print_stderr_note(&text_format::replace_control_chars(line))
        });
        if let Some(code) = &self.code {
            output_streams::print_stderr_note(&format!(
                "see: docs/errors/{}.md",
                text_format::replace_control_chars(code)
            ));
        }
        self.other_errors.iter().for_each(Self::print_to_stderr);
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let mut failure = Self::from_error(&error);
        failure.is_silent = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        Self::from_error(&*error)
    }
}

impl From<RunsError> for CliError {
    fn from(error: RunsError) -> Self {
        let message = error.to_string();
        let code = error.code().as_str();
        match error {
            RunsError::Runtime(trackway_runtime::Error::InvalidInput { problems, schema }) => {
                Self::invalid_input(message, InvalidInputDetails { problems, schema })
            }
            RunsError::Runtime(trackway_runtime::Error::UnknownWorkflow { why: Some(_), .. }) => {
                Self::new(message)
                    .with_error_code(code)
                    .with_hint("an outside agent can drive it: see `trackway mcp --help`")
            }
            RunsError::Runtime(trackway_runtime::Error::UnknownWorkflow { name, known, .. }) => {
                Self::unknown_workflow(message, &name, &known)
            }
            RunsError::Runtime(_)
            | RunsError::NotWaiting { .. }
            | RunsError::TooDeep
            | RunsError::BadFile { .. }
            | RunsError::TooManyFiles { .. } => Self::new(message).with_error_code(code),
        }
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        let code = match error {
            ReadError::Damaged { .. } | ReadError::DamagedBlob { .. } => ErrorCode::DamagedLog,
            ReadError::Unavailable { .. } => ErrorCode::StoreBusy,
            ReadError::Broken { .. } => ErrorCode::StoreFailed,
        };
        Self::from_error(&error).with_error_code(code.as_str())
    }
}

impl From<OpenDatabaseError> for CliError {
    fn from(error: OpenDatabaseError) -> Self {
        let failure = Self::from_error(&error);
        match error {
            OpenDatabaseError::Missing { .. } => failure.with_hint(
                "name the folder with --data or TRACKWAY_DATA; `trackway serve` and `trackway run` make one",
            ),
            _ => failure,
        }
    }
}

impl From<ServerError> for CliError {
    fn from(error: ServerError) -> Self {
        let failure = Self::from_error(&error);
        match &error {
            ServerError::Data(DataFolderError::InUse { url, .. }) => {
                let failure = failure.with_error_code(ErrorCode::DataInUse.as_str());
                match url {
                    Some(url) => failure.with_hint(format!("use that server: --server {url}")),
                    None => failure.with_hint("wait for it to end, or use another folder with --data"),
                }
            }
            ServerError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => failure
                .with_hint("another program uses this address; take a free port with --listen 127.0.0.1:0"),
            ServerError::DefaultAgent { name, known } => {
                Self::unknown_workflow(error.to_string(), name, known).with_exit_status(ExitStatus::Usage)
            }
            ServerError::SignedWithoutAddress => failure
                .with_exit_status(ExitStatus::Usage)
                .with_hint("set `[server] public_url` in trackway.toml, or leave out signing_key_file"),
            ServerError::Address { .. }
            | ServerError::Exposed { .. }
            | ServerError::ExposedOverNats
            | ServerError::Nats(_) => failure.with_exit_status(ExitStatus::Usage),
            ServerError::StoreFailed { .. } => failure.with_error_code(ErrorCode::StoreFailed.as_str()),
            ServerError::Registry(_)
            | ServerError::Auth(_)
            | ServerError::Data(_)
            | ServerError::Store(_)
            | ServerError::Listen { .. }
            | ServerError::Read(_)
            | ServerError::TokenKeys(_)
            | ServerError::Peers(_)
            | ServerError::NodeKey(_)
            | ServerError::HttpClient(_)
            | ServerError::Serve(_) => failure,
        }
    }
}

impl From<&Finding> for CliError {
    fn from(finding: &Finding) -> Self {
        let failure = Self::new(finding.to_string()).with_exit_status(ExitStatus::Usage);
        match &finding.suggestion {
            Some(suggestion) => failure.with_hint(suggestion),
            None => failure,
        }
    }
}

impl From<WorkspaceError> for CliError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::NoFolder(_) => Self::from_error(&error)
                .with_hint("--workspace and TRACKWAY_WORKSPACE name the folder with trackway.toml")
                .with_exit_status(ExitStatus::Usage),
            WorkspaceError::Findings(findings) => {
                let mut failures = findings.iter().map(Self::from);
                let first = failures.next().unwrap_or_else(|| Self::new("the workspace is wrong"));
                failures.fold(first, Self::with_other_error)
            }
            WorkspaceError::Signing(_) => Self::from_error(&error).with_exit_status(ExitStatus::Usage),
            WorkspaceError::Server(error) => error.into(),
        }
    }
}

impl From<ApiKeysError> for CliError {
    fn from(error: ApiKeysError) -> Self {
        let failure = Self::from_error(&error);
        match &error {
            ApiKeysError::Unknown { id, known } => {
                let failure = failure.with_exit_status(ExitStatus::Usage);
                match trackway_definition::nearest_known_word(id, known) {
                    Some(meant) => failure.with_hint(format!("did you mean {meant:?}?")),
                    None => failure.with_hint("`trackway keys list` shows them"),
                }
            }
            ApiKeysError::Taken { .. } => failure
                .with_exit_status(ExitStatus::Usage)
                .with_hint("choose another --id, or end that one first with `trackway keys revoke`"),
            ApiKeysError::InvalidKey(_) => failure.with_exit_status(ExitStatus::Usage),
            ApiKeysError::Read { .. }
            | ApiKeysError::Damaged { .. }
            | ApiKeysError::Write { .. }
            | ApiKeysError::Full
            | ApiKeysError::Random(_) => failure,
        }
    }
}
