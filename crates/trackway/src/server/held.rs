//! What an embedded engine holds while it runs, and how it ends.

#[cfg(test)]
mod tests;

use std::path::Path;

use trackway_runtime::Runtime;

use super::{DataFolder, agents::Employed};

/// An engine's folder, and what runs for its agents. Dropped, the folder is free and the agents' servers
/// end, waited for by nobody.
#[derive(Debug)]
pub struct Held {
    runtime: Runtime,
    folder: DataFolder,
    staff: Option<Employed>,
}

impl Held {
    pub(super) fn new(runtime: Runtime, folder: DataFolder, staff: Option<Employed>) -> Self {
        Self { runtime, folder, staff }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Stops the engine, and then ends what runs for its agents: a call that is under way would fail with
    /// its server, and its run record that. When this is over, all of it has ended.
    pub async fn close(self) {
        let Self { runtime, folder, staff } = self;
        runtime.stop().await;
        if let Some(staff) = staff {
            staff.dismiss().await;
        }
        drop(folder);
    }
}
