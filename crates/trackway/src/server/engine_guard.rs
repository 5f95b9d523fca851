//! The resources of an embedded engine, and how they are released.

#[cfg(test)]
mod tests;

use std::path::Path;

use trackway_ports::SharedAuditRecorder;
use trackway_runtime::Runtime;

use super::{DataFolder, server_agents::RunningAgents};

/// The folder of an engine, and the MCP servers of its agents. A drop unlocks the folder and stops the
/// servers without waiting for them.
#[derive(Debug)]
pub struct EngineGuard {
    runtime: Runtime,
    folder: DataFolder,
    audit: SharedAuditRecorder,
    staff: Option<RunningAgents>,
}

impl EngineGuard {
    pub(super) fn new(
        runtime: Runtime,
        folder: DataFolder,
        audit: SharedAuditRecorder,
        staff: Option<RunningAgents>,
    ) -> Self {
        Self { runtime, folder, audit, staff }
    }

    /// The folder.
    pub fn data_folder_path(&self) -> &Path {
        self.folder.data_folder_path()
    }

    /// Stops the engine, and then the MCP servers of its agents. In the other order a running call would
    /// fail with its server, and its run would record that failure. On return everything has ended.
    pub async fn close_engine(self) {
        let Self { runtime, folder, audit, staff } = self;
        audit.wait_until_recorded().await;
        runtime.stop_runtime().await;
        if let Some(staff) = staff {
            staff.shutdown_agents().await;
        }
        drop(folder);
    }
}
