//! Notifies of changes in folders or files.
//!
//! A thread collects the notifications of the operating system. It also handles folders that appear and
//! disappear: for a folder that does not exist, it watches the nearest existing parent until the folder
//! exists.

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

/// How long after a folder appeared or disappeared it is checked once more.
const SETTLED: Duration = Duration::from_millis(100);

/// The longest wait for a notification.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24);

/// Why changes cannot be watched. Reading the list still works.
#[derive(Debug, thiserror::Error)]
pub enum FolderWatchError {
    #[error("the folders cannot be watched")]
    Notices(#[from] notify::Error),
    #[error("the thread that watches the folders cannot be started")]
    Thread(#[from] io::Error),
}

/// Changes are reported until this is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    notices: Sender<WatchThreadMessage>,
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // The send fails if the thread has ended.
        let _ = self.notices.send(WatchThreadMessage::Stop);
    }
}

enum WatchThreadMessage {
    FileEvent(notify::Result<Event>),
    /// There was no event for a while.
    Recheck,
    Stop,
}

/// Calls `on_change` after something in these folders, or one of these files, changed, until the returned
/// value is dropped. They need not exist.
pub fn watch_paths_for_changes(
    paths: &[PathBuf],
    on_change: impl Fn() + Send + 'static,
) -> Result<FolderWatch, FolderWatchError> {
    let (notices, incoming) = mpsc::channel();
    let handed = notices.clone();
    let watcher = notify::recommended_watcher(move |event| {
        // The send fails if the watcher is about to be dropped.
        let _ = handed.send(WatchThreadMessage::FileEvent(event));
    })?;
    let mut watched = Vec::new();
    for folder in paths {
        watched.push(WatchedFolder {
            folder: std::path::absolute(folder)?,
            reported_path: PathBuf::new(),
            watched_path: None,
        });
    }
    let mut watch = FolderWatchThread { watcher, folders: watched };
    watch.rewatch_folders()?;
    thread::Builder::new()
        .name("watched-folders".to_owned())
        .spawn(move || watch.run_watch_loop(&incoming, &on_change))?;
    Ok(FolderWatch { notices })
}

/// One of the folders.
struct WatchedFolder {
    folder: PathBuf,
    /// The folder as notifications name it: some systems report real paths whatever path was watched.
    reported_path: PathBuf,
    /// The watched path: the folder itself, or its nearest existing parent.
    watched_path: Option<PathBuf>,
}

struct FolderWatchThread {
    watcher: RecommendedWatcher,
    folders: Vec<WatchedFolder>,
}

impl FolderWatchThread {
    fn run_watch_loop(mut self, incoming: &Receiver<WatchThreadMessage>, on_change: &impl Fn()) {
        // A folder that appeared or disappeared is checked once more: the notification that the old folder is
        // gone can remove the watch of a new folder at the same path.
        let mut again = false;
        loop {
            let first = match incoming.recv_timeout(if again { SETTLED } else { FOR_EVER }) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) if again => WatchThreadMessage::Recheck,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let looked = matches!(first, WatchThreadMessage::Recheck);
            let mut summary = FileChangeSummary::default();
            // Changes that arrived in the meantime are reported together.
            for notice in std::iter::once(first).chain(incoming.try_iter()) {
                match notice {
                    WatchThreadMessage::Stop => return,
                    WatchThreadMessage::Recheck => {
                        summary = FileChangeSummary { changed: true, needs_rewatch: true }
                    }
                    WatchThreadMessage::FileEvent(event) => self.record_file_event(&event, &mut summary),
                }
            }
            if summary.needs_rewatch
                && let Err(error) = self.rewatch_folders()
            {
                tracing::warn!(%error, "changes in the watched folders may go unnoticed");
            }
            if summary.changed {
                on_change();
            }
            again = summary.needs_rewatch && !looked;
        }
    }

    fn record_file_event(&self, event: &notify::Result<Event>, summary: &mut FileChangeSummary) {
        let event = match event {
            Ok(event) if is_read_access(event.kind) => return,
            Ok(event) if !event.need_rescan() => event,
            // Notifications were lost: anything may have happened.
            _ => return *summary = FileChangeSummary { changed: true, needs_rewatch: true },
        };
        let is_move = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        for path in &event.paths {
            for folder in &self.folders {
                summary.changed |= path.starts_with(&folder.reported_path);
                if is_move && folder.reported_path.starts_with(path) {
                    // The folder, or one of its parents, appeared, disappeared or was replaced.
                    *summary = FileChangeSummary { changed: true, needs_rewatch: true };
                }
            }
        }
    }

    /// Watches the folders that exist, and a parent of the others.
    fn rewatch_folders(&mut self) -> notify::Result<()> {
        for folder in &mut self.folders {
            if let Some(at) = folder.watched_path.take() {
                // It may be gone, and its watch with it.
                let _ = self.watcher.unwatch(&at);
            }
        }
        // Whole folders last: if one is also the parent of another, everything in it counts.
        for is_whole in [false, true] {
            for folder in &mut self.folders {
                if folder.folder.is_dir() == is_whole {
                    watch_nearest_existing_folder(&mut self.watcher, folder)?;
                }
            }
        }
        Ok(())
    }
}

/// The summary of several notifications.
#[derive(Default, Clone, Copy)]
struct FileChangeSummary {
    changed: bool,
    /// The watched paths may be out of date.
    needs_rewatch: bool,
}

fn watch_nearest_existing_folder(
    watcher: &mut RecommendedWatcher,
    folder: &mut WatchedFolder,
) -> notify::Result<()> {
    while let Some(above) = nearest_existing_folder(&folder.folder) {
        let at = fs::canonicalize(above)?;
        let rest = folder.folder.strip_prefix(above).unwrap_or(Path::new(""));
        let is_whole = rest.as_os_str().is_empty();
        folder.reported_path = if is_whole { at.clone() } else { at.join(rest) };
        let mode = if is_whole { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        watcher.watch(&at, mode)?;
        // A folder that is created between the check and the watch would not be reported.
        if nearest_existing_folder(&folder.folder) == Some(above) {
            folder.watched_path = Some(at);
            break;
        }
        let _ = watcher.unwatch(&at);
    }
    Ok(())
}

fn nearest_existing_folder(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.is_dir())
}

/// Reading files causes notifications too; they must not cause another read.
fn is_read_access(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}
