//! The programs that come with Trackway: examples, a demo, and subjects of the tests.

mod approve;
mod echo;
mod fails;
mod family;
mod invest;
mod ledger;
mod review;
mod tck;
mod tools;

use std::{path::Path, time::Duration};

use trackway::{Server, Workflow};

pub use approve::Approve;
pub use echo::Echo;
pub use fails::Fails;
pub use family::Family;
pub use invest::Invest;
pub use ledger::Ledger;
pub use review::Review;
pub use tck::Tck;

/// A server with every bundled program and tool, on this data folder.
pub fn bundled(data: &Path) -> Server {
    Server::new()
        .data(data)
        .workflow(Echo)
        .workflow(Approve)
        .workflow(Fails)
        .workflow(Family)
        .workflow(Invest)
        .workflow(Ledger::in_folder(data))
        .workflow(Review)
        .tool("ledger_enter", tools::LEDGER_ENTER, tools::ledger_enter(data))
}

/// The bundled programs and the scripted subject of the conformance suites, with the exceptions that
/// the suites need: they reuse message ids, and their webhooks are on this machine.
pub(crate) fn conformance(data: &Path, patience: Duration) -> Server {
    bundled(data)
        .workflow(Tck { patience })
        .default_agent(<Tck as Workflow>::NAME)
        .extended_card(true)
        .conformance(true)
        .repeat_messages(true)
        .allow_loopback_targets(true)
}
