//! Being told that something in some folders changed, or a file.
//!
//! The operating system's own notices, gathered by a thread that also keeps hold of folders that come
//! and go: for one that does not exist, the nearest folder above it is watched until it does.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, ModifyKind},
};

/// How long after a folder came or went it is looked at once more.
const SETTLED: Duration = Duration::from_millis(100);

/// As long as a wait can be that ends with a notice.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24);

/// Why changes cannot be told. Asking for the list works all the same.
#[derive(Debug, thiserror::Error)]
pub enum Unwatchable {
    #[error("the folders cannot be watched")]
    Notices(#[from] notify::Error),
    #[error("the thread that watches the folders cannot be started")]
    Thread(#[from] io::Error),
}

/// Changes are told until this is dropped.
#[derive(Debug)]
pub struct Watching {
    notices: Sender<Notice>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        // A thread that has ended needs no word.
        let _ = self.notices.send(Notice::Stop);
    }
}

enum Notice {
    Happened(notify::Result<Event>),
    /// It has been quiet for a while.
    Look,
    Stop,
}

/// Calls `told` after something in these folders, or one of these files, changed, until what is returned
/// is dropped. They need not exist.
pub fn watch(
    folders: &[PathBuf],
    told: impl Fn() + Send + 'static,
) -> Result<Watching, Unwatchable> {
    let (notices, incoming) = mpsc::channel();
    let handed = notices.clone();
    let watcher = notify::recommended_watcher(move |event| {
        // Nobody listens any more: the watcher is about to be dropped.
        let _ = handed.send(Notice::Happened(event));
    })?;
    let mut held = Vec::new();
    for folder in folders {
        held.push(Held { folder: std::path::absolute(folder)?, aim: PathBuf::new(), at: None });
    }
    let mut watch = Watch { watcher, held };
    watch.arrange()?;
    thread::Builder::new()
        .name("watched-folders".to_owned())
        .spawn(move || watch.run(&incoming, &told))?;
    Ok(Watching { notices })
}

/// One of the folders.
struct Held {
    folder: PathBuf,
    /// The folder as notices name it: some systems tell real paths whatever was asked for.
    aim: PathBuf,
    /// What is watched for it: the folder itself, or the nearest one above it that exists.
    at: Option<PathBuf>,
}

struct Watch {
    watcher: RecommendedWatcher,
    held: Vec<Held>,
}

impl Watch {
    fn run(mut self, incoming: &Receiver<Notice>, told: &impl Fn()) {
        // A folder that came or went is looked at once more: the notice of its going can take the watch of
        // one that has come in its place.
        let mut again = false;
        loop {
            let first = match incoming.recv_timeout(if again { SETTLED } else { FOR_EVER }) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) if again => Notice::Look,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let looked = matches!(first, Notice::Look);
            let mut heard = Heard::default();
            // What has come meanwhile is told together.
            for notice in std::iter::once(first).chain(incoming.try_iter()) {
                match notice {
                    Notice::Stop => return,
                    Notice::Look => heard = Heard { changed: true, moved: true },
                    Notice::Happened(event) => self.hear(&event, &mut heard),
                }
            }
            if heard.moved
                && let Err(error) = self.arrange()
            {
                tracing::warn!(%error, "changes in the watched folders may go unnoticed");
            }
            if heard.changed {
                told();
            }
            again = heard.moved && !looked;
        }
    }

    fn hear(&self, event: &notify::Result<Event>, heard: &mut Heard) {
        let event = match event {
            Ok(event) if is_reading(event.kind) => return,
            Ok(event) if !event.need_rescan() => event,
            // Notices were lost: anything may have happened.
            _ => return *heard = Heard { changed: true, moved: true },
        };
        let is_move = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        for path in &event.paths {
            for held in &self.held {
                heard.changed |= path.starts_with(&held.aim);
                if is_move && held.aim.starts_with(path) {
                    // The folder, or something above it, came, went or was replaced.
                    *heard = Heard { changed: true, moved: true };
                }
            }
        }
    }

    /// Watches the folders that there are, and what is above the others.
    fn arrange(&mut self) -> notify::Result<()> {
        for held in &mut self.held {
            if let Some(at) = held.at.take() {
                // It may have gone, and its watch with it.
                let _ = self.watcher.unwatch(&at);
            }
        }
        // Whole folders last: where one is also above another, all that is in it counts.
        for is_whole in [false, true] {
            for held in &mut self.held {
                if held.folder.is_dir() == is_whole {
                    hold(&mut self.watcher, held)?;
                }
            }
        }
        Ok(())
    }
}

/// What came out of some notices.
#[derive(Default, Clone, Copy)]
struct Heard {
    changed: bool,
    /// What is watched may not be what should be.
    moved: bool,
}

fn hold(watcher: &mut RecommendedWatcher, held: &mut Held) -> notify::Result<()> {
    while let Some(above) = nearest_folder(&held.folder) {
        let at = fs::canonicalize(above)?;
        let rest = held.folder.strip_prefix(above).unwrap_or(Path::new(""));
        let is_whole = rest.as_os_str().is_empty();
        held.aim = if is_whole { at.clone() } else { at.join(rest) };
        let mode = if is_whole { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        watcher.watch(&at, mode)?;
        // Something made between the look and the watch would be told by nobody.
        if nearest_folder(&held.folder) == Some(above) {
            held.at = Some(at);
            break;
        }
        let _ = watcher.unwatch(&at);
    }
    Ok(())
}

fn nearest_folder(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.is_dir())
}

/// Looking at files makes notices of its own; what follows from them must not look again.
fn is_reading(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}
