//! Lines from stdin; reading begins when the first line is needed.

use std::{io, thread};

use tokio::sync::mpsc;

use crate::{cli_error::CliError, exit_status::ExitStatus};

/// Reads on a separate thread, which is abandoned at the end: a read cannot be cancelled, and the
/// process must not wait until a person presses enter.
#[derive(Debug, Default)]
pub(crate) struct StdinLines {
    receiver: Option<mpsc::Receiver<io::Result<String>>>,
}

impl StdinLines {
    /// The next line without its end; `None` when there are no more. Dropping the future loses nothing.
    pub(crate) async fn next_stdin_line(&mut self) -> Result<Option<String>, CliError> {
        let line = self.receiver.get_or_insert_with(spawn_stdin_reader).recv().await;
        line.transpose().map_err(|error| stdin_read_error(&error))
    }
}

fn spawn_stdin_reader() -> mpsc::Receiver<io::Result<String>> {
    // At most one line ahead: the rest stays for the next reader of stdin.
    let (sender, receiver) = mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lines() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                break;
            }
        }
    });
    receiver
}

/// A read error must not look like the normal end of the input.
fn stdin_read_error(error: &io::Error) -> CliError {
    let failure = CliError::new("a line of the input cannot be read").with_cause(error);
    match error.kind() {
        io::ErrorKind::InvalidData => {
            failure.with_hint("lines are UTF-8").with_exit_status(ExitStatus::Usage)
        }
        _ => failure,
    }
}
