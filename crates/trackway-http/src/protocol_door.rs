//! A door: the unit that a server serves.

use std::fmt;

use axum::Router;

/// Routes, and a hook for the stop of the server. A server knows nothing else about a door.
pub struct ProtocolDoor {
    name: &'static str,
    router: Router,
    stop: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ProtocolDoor {
    /// The name is for logs. No two doors of a server may have the same route.
    pub fn new(name: &'static str, router: Router) -> Self {
        Self { name, router, stop: None }
    }

    /// Sets a hook that ends streams which would otherwise keep the server from stopping. It is
    /// called once, before the engine stops. Streams that follow a run end with the engine and need
    /// no hook.
    #[must_use]
    pub fn with_stop_hook(mut self, stop: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.stop = Some(Box::new(stop));
        self
    }

    /// The routes.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Runs the stop hook.
    pub fn run_stop_hook(self) {
        tracing::debug!(door = self.name, "a door is closed");
        if let Some(stop) = self.stop {
            stop();
        }
    }
}

impl fmt::Debug for ProtocolDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("name", &self.name).finish_non_exhaustive()
    }
}
