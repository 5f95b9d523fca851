//! The programs that come with Trackway: examples to read, a demo to play with, subjects of the tests.

mod echo;
mod fails;
mod family;
mod invest;
mod ledger;
mod review;

use std::path::Path;

use trackway::Server;

pub use echo::Echo;
pub use fails::Fails;
pub use family::Family;
pub use invest::Invest;
pub use ledger::Ledger;
pub use review::Review;

/// A server with every bundled program, on this data folder.
pub fn bundled(data: &Path) -> Server {
    Server::new()
        .data(data)
        .workflow(Echo)
        .workflow(Fails)
        .workflow(Family)
        .workflow(Invest)
        .workflow(Ledger::in_folder(data))
        .workflow(Review)
}
