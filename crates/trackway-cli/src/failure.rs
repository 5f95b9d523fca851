//! Why a command failed, with hints that help the user to continue.

use std::{error::Error, io};

use trackway::{DataFolderError, KeyFileError, ServerError, WorkspaceError, api::RunsError};
use trackway_domain::{Code, Problem};
use trackway_ports::ReadError;
use trackway_sqlite::OpenError;

use crate::{exit::Exit, finding::Finding, output, text};

/// Printed as `error: …`, the causes below it, what is wrong in detail, and `hint: …` lines.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    lines: Vec<(Line, String)>,
    /// A code of the catalogue. A string, because a newer server may have more codes.
    pub(crate) code: Option<String>,
    pub(crate) exit: Exit,
    /// What is wrong with an input, and the schema that it must satisfy.
    pub(crate) invalid: Option<Box<Invalid>>,
    /// The reader has closed the pipe: `trackway runs list | head`.
    quiet: bool,
    /// Further failures.
    also: Vec<Self>,
}

/// The kinds of lines below the message, in the order of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Cause,
    Detail,
    Hint,
}

#[derive(Debug, Clone)]
pub(crate) struct Invalid {
    pub(crate) problems: Vec<Problem>,
    pub(crate) schema: serde_json::Value,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            lines: Vec::new(),
            code: None,
            exit: Exit::Error,
            invalid: None,
            quiet: false,
            also: Vec::new(),
        }
    }

    /// An error and its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        let mut failure = Self::new(error.to_string());
        if let Some(cause) = error.source() {
            failure = failure.cause(cause);
        }
        failure
    }

    /// Input that does not satisfy its schema.
    pub(crate) fn invalid(message: impl Into<String>, invalid: Invalid) -> Self {
        let mut failure = Self::new(message).code(Code::InvalidInput.as_str());
        let problems = text::problems(&invalid.problems);
        failure.lines.extend(problems.into_iter().map(|line| (Line::Detail, line)));
        failure.invalid = Some(Box::new(invalid));
        failure
    }

    /// An unknown name, with the known names as hints.
    pub(crate) fn unknown_workflow(
        message: impl Into<String>,
        name: &str,
        known: &[String],
    ) -> Self {
        let mut failure = Self::new(message).code(Code::UnknownWorkflow.as_str());
        if let Some(meant) = trackway_definition::nearest(name, known) {
            failure = failure.hint(format!("did you mean {meant:?}?"));
        }
        failure.hint(format!("there are: {}", known.join(", ")))
    }

    #[must_use]
    pub(crate) fn cause(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            self.lines.push((Line::Cause, format!("  caused by: {cause}")));
            next = cause.source();
        }
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.lines.push((Line::Hint, format!("hint: {}", hint.into())));
        self
    }

    #[must_use]
    pub(crate) fn code(mut self, code: &str) -> Self {
        self.exit = match code {
            "invalid-input" | "invalid-request" | "unknown-workflow" | "unknown-run"
            | "unknown-session" | "run-ended" | "session-mismatch" | "too-large" => Exit::Usage,
            "replay-mismatch" => Exit::Misfit,
            _ => Exit::Error,
        };
        self.code = Some(code.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Adds a further failure, which is printed after it.
    #[must_use]
    pub(crate) fn also(mut self, other: Self) -> Self {
        self.also.push(other);
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints all of it to stderr.
    pub(crate) fn print(&self) {
        if self.quiet {
            return;
        }
        output::note(&format!("error: {}", text::printable(&self.message)));
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_by_key(|(line, _)| *line);
        lines.iter().for_each(|(_, line)| output::note(&text::printable(line)));
        if let Some(code) = &self.code {
            output::note(&format!("see: docs/errors/{}.md", text::printable(code)));
        }
        self.also.iter().for_each(Self::print);
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let mut failure = Self::of(&error);
        failure.quiet = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::of(&*error)
    }
}

impl From<RunsError> for Failure {
    fn from(error: RunsError) -> Self {
        let message = error.to_string();
        let code = error.code().as_str();
        match error {
            RunsError::Runtime(trackway_runtime::Error::InvalidInput { problems, schema }) => {
                Self::invalid(message, Invalid { problems, schema })
            }
            RunsError::Runtime(trackway_runtime::Error::UnknownWorkflow {
                why: Some(_), ..
            }) => Self::new(message)
                .code(code)
                .hint("an outside agent can drive it: see `trackway mcp --help`"),
            RunsError::Runtime(trackway_runtime::Error::UnknownWorkflow {
                name, known, ..
            }) => Self::unknown_workflow(message, &name, &known),
            RunsError::Runtime(_) | RunsError::NotWaiting { .. } | RunsError::TooDeep => {
                Self::new(message).code(code)
            }
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let code = match error {
            ReadError::Damaged { .. } | ReadError::DamagedBlob { .. } => Code::DamagedLog,
            ReadError::Unavailable { .. } => Code::StoreBusy,
            ReadError::Broken { .. } => Code::StoreFailed,
        };
        Self::of(&error).code(code.as_str())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let failure = Self::of(&error);
        match error {
            OpenError::Missing { .. } => failure.hint(
                "name the folder with --data or TRACKWAY_DATA; `trackway serve` and `trackway run` make one",
            ),
            _ => failure,
        }
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let failure = Self::of(&error);
        match &error {
            ServerError::Data(DataFolderError::InUse { url, .. }) => {
                let failure = failure.code(Code::DataInUse.as_str());
                match url {
                    Some(url) => failure.hint(format!("use that server: --server {url}")),
                    None => failure.hint("wait for it to end, or use another folder with --data"),
                }
            }
            ServerError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                failure.hint(
                    "another program uses this address; take a free port with --listen 127.0.0.1:0",
                )
            }
            ServerError::DefaultAgent { name, known } => {
                Self::unknown_workflow(error.to_string(), name, known).exit(Exit::Usage)
            }
            ServerError::SignedWithoutAddress => failure
                .exit(Exit::Usage)
                .hint("set `[server] public_url` in trackway.toml, or leave out signing_key_file"),
            ServerError::Address { .. } | ServerError::Exposed { .. } => failure.exit(Exit::Usage),
            ServerError::StoreFailed { .. } => failure.code(Code::StoreFailed.as_str()),
            ServerError::Registry(_)
            | ServerError::Auth(_)
            | ServerError::Data(_)
            | ServerError::Store(_)
            | ServerError::Listen { .. }
            | ServerError::Read(_)
            | ServerError::TokenKeys(_)
            | ServerError::Serve(_) => failure,
        }
    }
}

impl From<&Finding> for Failure {
    fn from(finding: &Finding) -> Self {
        let failure = Self::new(finding.to_string()).exit(Exit::Usage);
        match &finding.suggestion {
            Some(suggestion) => failure.hint(suggestion),
            None => failure,
        }
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::NoFolder(_) => Self::of(&error)
                .hint("--workspace and TRACKWAY_WORKSPACE name the folder with trackway.toml")
                .exit(Exit::Usage),
            WorkspaceError::Findings(findings) => {
                let mut failures = findings.iter().map(Self::from);
                let first = failures.next().unwrap_or_else(|| Self::new("the workspace is wrong"));
                failures.fold(first, Self::also)
            }
            WorkspaceError::Signing(_) => Self::of(&error).exit(Exit::Usage),
            WorkspaceError::Server(error) => error.into(),
        }
    }
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        let failure = Self::of(&error);
        match &error {
            KeyFileError::Unknown { id, known } => {
                let failure = failure.exit(Exit::Usage);
                match trackway_definition::nearest(id, known) {
                    Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
                    None => failure.hint("`trackway keys list` shows them"),
                }
            }
            KeyFileError::Taken { .. } => failure
                .exit(Exit::Usage)
                .hint("choose another --id, or end that one first with `trackway keys revoke`"),
            KeyFileError::Bad(_) => failure.exit(Exit::Usage),
            KeyFileError::Read { .. }
            | KeyFileError::Damaged { .. }
            | KeyFileError::Write { .. }
            | KeyFileError::Full
            | KeyFileError::Random(_) => failure,
        }
    }
}
