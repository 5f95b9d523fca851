//! Lines from stdin, read when the first one is wanted.

use std::{io, thread};

use tokio::sync::mpsc;

/// Reads on a thread of its own, which is left to itself at the end: a read cannot be taken back, and
/// the process must not wait for a person to press enter.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    receiver: Option<mpsc::Receiver<String>>,
}

impl Lines {
    /// The next line without its end; `None` when there are no more. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.receiver.get_or_insert_with(read).recv().await
    }
}

fn read() -> mpsc::Receiver<String> {
    // One line ahead at the most: the rest stays with whoever reads stdin after us.
    let (sender, receiver) = mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { break };
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
