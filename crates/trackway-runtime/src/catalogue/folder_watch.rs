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
pub enum WatchError {
    #[error("the folders cannot be watched")]
    Notices(#[from] notify::Error),
    #[error("the thread that watches the folders cannot be started")]
    Thread(#[from] io::Error),
}

/// Changes are told until this is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    notices: Sender<WatchMessage>,
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // A thread that has ended needs no word.
        let _ = self.notices.send(WatchMessage::Stop);
    }
}

enum WatchMessage {
    FileEvent(notify::Result<Event>),
    /// It has been quiet for a while.
    Recheck,
    Stop,
}

/// Calls `told` after something in these folders, or one of these files, changed, until what is returned
/// is dropped. They need not exist.
pub fn watch_paths(folders: &[PathBuf], told: impl Fn() + Send + 'static) -> Result<FolderWatch, WatchError> {
    let (notices, incoming) = mpsc::channel();
    let handed = notices.clone();
    let watcher = notify::recommended_watcher(move |event| {
        // Nobody listens any more: the watcher is about to be dropped.
        let _ = handed.send(WatchMessage::FileEvent(event));
    })?;
    let mut held = Vec::new();
    for folder in folders {
        held.push(WatchedFolder {
            folder: std::path::absolute(folder)?,
            reported_path: PathBuf::new(),
            watched_path: None,
        });
    }
    let mut watch = WatchThread { watcher, folders: held };
    watch.rewatch_folders()?;
    thread::Builder::new()
        .name("watched-folders".to_owned())
        .spawn(move || watch.run_watch_loop(&incoming, &told))?;
    Ok(FolderWatch { notices })
}

/// One of the folders.
struct WatchedFolder {
    folder: PathBuf,
    /// The folder as notices name it: some systems tell real paths whatever was asked for.
    reported_path: PathBuf,
    /// What is watched for it: the folder itself, or the nearest one above it that exists.
    watched_path: Option<PathBuf>,
}

struct WatchThread {
    watcher: RecommendedWatcher,
    folders: Vec<WatchedFolder>,
}

impl WatchThread {
    fn run_watch_loop(mut self, incoming: &Receiver<WatchMessage>, told: &impl Fn()) {
        // A folder that came or went is looked at once more: the notice of its going can take the watch of
        // one that has come in its place.
        let mut again = false;
        loop {
            let first = match incoming.recv_timeout(if again { SETTLED } else { FOR_EVER }) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) if again => WatchMessage::Recheck,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let looked = matches!(first, WatchMessage::Recheck);
            let mut heard = ChangeSummary::default();
            // What has come meanwhile is told together.
            for notice in std::iter::once(first).chain(incoming.try_iter()) {
                match notice {
                    WatchMessage::Stop => return,
                    WatchMessage::Recheck => heard = ChangeSummary { changed: true, needs_rewatch: true },
                    WatchMessage::FileEvent(event) => self.apply_event(&event, &mut heard),
                }
            }
            if heard.needs_rewatch
                && let Err(error) = self.rewatch_folders()
            {
                tracing::warn!(%error, "changes in the watched folders may go unnoticed");
            }
            if heard.changed {
                told();
            }
            again = heard.needs_rewatch && !looked;
        }
    }

    fn apply_event(&self, event: &notify::Result<Event>, heard: &mut ChangeSummary) {
        let event = match event {
            Ok(event) if is_read_access(event.kind) => return,
            Ok(event) if !event.need_rescan() => event,
            // Notices were lost: anything may have happened.
            _ => return *heard = ChangeSummary { changed: true, needs_rewatch: true },
        };
        let is_move = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        for path in &event.paths {
            for held in &self.folders {
                heard.changed |= path.starts_with(&held.reported_path);
                if is_move && held.reported_path.starts_with(path) {
                    // The folder, or something above it, came, went or was replaced.
                    *heard = ChangeSummary { changed: true, needs_rewatch: true };
                }
            }
        }
    }

    /// Watches the folders that there are, and what is above the others.
    fn rewatch_folders(&mut self) -> notify::Result<()> {
        for held in &mut self.folders {
            if let Some(at) = held.watched_path.take() {
                // It may have gone, and its watch with it.
                let _ = self.watcher.unwatch(&at);
            }
        }
        // Whole folders last: where one is also above another, all that is in it counts.
        for is_whole in [false, true] {
            for held in &mut self.folders {
                if held.folder.is_dir() == is_whole {
                    watch_nearest_folder(&mut self.watcher, held)?;
                }
            }
        }
        Ok(())
    }
}

/// What came out of some notices.
#[derive(Default, Clone, Copy)]
struct ChangeSummary {
    changed: bool,
    /// What is watched may not be what should be.
    needs_rewatch: bool,
}

fn watch_nearest_folder(watcher: &mut RecommendedWatcher, held: &mut WatchedFolder) -> notify::Result<()> {
    while let Some(above) = nearest_existing_folder(&held.folder) {
        let at = fs::canonicalize(above)?;
        let rest = held.folder.strip_prefix(above).unwrap_or(Path::new(""));
        let is_whole = rest.as_os_str().is_empty();
        held.reported_path = if is_whole { at.clone() } else { at.join(rest) };
        let mode = if is_whole { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        watcher.watch(&at, mode)?;
        // Something made between the look and the watch would be told by nobody.
        if nearest_existing_folder(&held.folder) == Some(above) {
            held.watched_path = Some(at);
            break;
        }
        let _ = watcher.unwatch(&at);
    }
    Ok(())
}

fn nearest_existing_folder(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.is_dir())
}

/// Looking at files makes notices of its own; what follows from them must not look again.
fn is_read_access(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}
