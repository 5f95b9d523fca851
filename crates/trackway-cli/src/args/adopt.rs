//! What can be typed after `trackway runs adopt`.

use clap::Args;
use trackway_domain::RunId;

use super::Place;

#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// Which run, as `trackway runs list` shows it
    #[arg(value_name = "RUN")]
    pub(crate) id: RunId,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print the run as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
