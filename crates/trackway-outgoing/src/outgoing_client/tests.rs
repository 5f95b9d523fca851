//! When clients are built.

use super::*;
use crate::SystemDnsLookup;

/// Issue 11, N4: an unused client reads nothing, and all clones of one read once.
#[test]
fn a_client_is_built_when_it_is_first_needed() {
    let lazy = LazyRestrictedClient::new(AddressPolicy::default(), Arc::new(SystemDnsLookup), CONNECT_WAIT);
    let clone = lazy.clone();
    assert!(lazy.client.get().is_none());
    lazy.get_or_build_client().unwrap();
    assert!(clone.client.get().is_some());
}
