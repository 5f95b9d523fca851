//! A door as a server takes it.

use std::fmt;

use axum::Router;

/// Something that a server is given to serve: routes, and what has to happen when the server stops.
/// Beyond that a server knows nothing of a door.
pub struct Door {
    name: &'static str,
    router: Router,
    stop: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Door {
    /// The name is for logs. No two doors of a server may have the same route.
    pub fn new(name: &'static str, router: Router) -> Self {
        Self { name, router, stop: None }
    }

    /// What ends streams that would otherwise keep the server from stopping. Called once, before the
    /// engine stops; streams that follow a run end with the engine and need nothing.
    #[must_use]
    pub fn on_stop(mut self, stop: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.stop = Some(Box::new(stop));
        self
    }

    /// The routes.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Does what has to happen when the server stops.
    pub fn stop(self) {
        tracing::debug!(door = self.name, "a door is closed");
        if let Some(stop) = self.stop {
            stop();
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("name", &self.name).finish_non_exhaustive()
    }
}
