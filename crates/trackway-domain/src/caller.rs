//! Who sends a command.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Tenant and user behind a command. Every run belongs to the caller that started it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    pub tenant: Arc<str>,
    pub user: Arc<str>,
}

impl Caller {
    pub fn new(tenant: &str, user: &str) -> Self {
        Self { tenant: tenant.into(), user: user.into() }
    }

    /// The caller on a machine without auth. Every request on the loopback address has this caller.
    pub fn local_without_auth() -> Self {
        Self::new("local", "local")
    }
}
