//! When clients are built.

use super::*;
use crate::SystemLookup;

/// Issue 11, N4: nothing is read for a client that nobody uses, and once for all clones of one.
#[test]
fn a_client_is_built_when_it_is_first_needed() {
    let lazy = LazyClient::new(AddressPolicy::default(), Arc::new(SystemLookup), CONNECT_WAIT);
    let clone = lazy.clone();
    assert!(lazy.client.get().is_none());
    lazy.get().unwrap();
    assert!(clone.client.get().is_some());
}
