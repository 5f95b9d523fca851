//! What the tests of this crate stand on: a folder with workflows, and doors on its store.

use std::{fs, path::PathBuf, sync::Arc};

use tempfile::TempDir;
use trackway_domain::Timestamp;
use trackway_ports::{Journal, NoFaults};
use trackway_runtime::{Catalogue, Guide, GuideOptions, SystemClock, SystemIds};
use trackway_sqlite::SqliteJournal;

use crate::{Door, KeyRing, Switches};

/// A data folder, and a folder of workflows beside it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("workflows")).unwrap();
        Self { folder }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a workflow's file.
    pub(crate) fn workflow(&self, name: &str, text: &str) -> &Self {
        fs::write(self.folder.path().join("workflows").join(name), text).unwrap();
        self
    }

    /// A door with everything switched on, as a process of its own would open it.
    pub(crate) fn door(&self) -> Door {
        self.door_with(Switches { checkpoints: true, session_checkpoints: true })
    }

    pub(crate) fn door_with(&self, switches: Switches) -> Door {
        let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&self.data()).unwrap());
        let guide = Guide::new(GuideOptions {
            journal,
            catalogue: Arc::new(Catalogue::new(vec![self.folder.path().join("workflows")])),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: Arc::new(NoFaults),
        });
        let ring = KeyRing::open(&self.data(), Timestamp(0)).unwrap();
        Door::new(guide, Arc::new(ring), switches)
    }
}
