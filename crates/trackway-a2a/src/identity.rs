//! Who is calling. The one place where the door learns it, so that proof can be asked for here alone.

use axum::http::HeaderMap;
use trackway_domain::Caller;

use crate::Options;

/// The caller behind a request. Nothing in the headers is believed yet: whoever reaches the door is
/// the configured caller.
pub(crate) fn caller(_headers: &HeaderMap, options: &Options) -> Caller {
    options.default_caller.clone()
}
