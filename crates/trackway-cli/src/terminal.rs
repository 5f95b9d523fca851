//! Lines from stdin, read when the first one is wanted.

use std::{io, thread};

use tokio::sync::mpsc;

use crate::{exit::Exit, failure::Failure};

/// Reads on a thread of its own, which is left to itself at the end: a read cannot be taken back, and
/// the process must not wait for a person to press enter.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    receiver: Option<mpsc::Receiver<io::Result<String>>>,
}

impl Lines {
    /// The next line without its end; `None` when there are no more. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, Failure> {
        let line = self.receiver.get_or_insert_with(read).recv().await;
        line.transpose().map_err(|error| unread(&error))
    }
}

fn read() -> mpsc::Receiver<io::Result<String>> {
    // One line ahead at the most: the rest stays with whoever reads stdin after us.
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

/// Taken for the end of the lines, it would look as if everything had been said.
fn unread(error: &io::Error) -> Failure {
    let failure = Failure::new("a line of the input cannot be read").cause(error);
    match error.kind() {
        io::ErrorKind::InvalidData => failure.hint("lines are UTF-8").exit(Exit::Usage),
        _ => failure,
    }
}
