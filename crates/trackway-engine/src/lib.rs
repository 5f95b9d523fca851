//! Pure decisions: what a command does to a run, and what clients see of it.
//!
//! [`decide`] is the only function that makes decisions about a run: it takes a run and a command and
//! returns events, effects and a reply. `fork` and `import` define what a copied log becomes. [`Run`]
//! and [`RunView`] are folds of events: [`Run`] holds what decisions need, [`RunView`] what people see.
//! [`transition`] is the only way from one state to another, live and on replay. Nothing here is async,
//! reads a clock or makes an id by itself.

mod answer;
mod bounded;
mod decide;
mod effect;
mod env;
#[cfg(test)]
mod fixture;
mod fork;
mod input;
mod prompt;
mod refusal;
mod run;
mod session;
mod status_time;
mod transition;
mod update;
mod view;

pub use bounded::{Bounded, BoundedUpdate, Omitted, Wanted, value_bytes};
pub use decide::{decide, guided_run_accepts, import};
pub use effect::{Decision, Delivered, Effect, GuidedReply, Reply};
pub use env::{Env, Schemas};
pub use fork::{CannotFork, Fork, Forked, fork};
pub use input::{input_from_parts, read_answer, required_names, yes_or_no};
pub use refusal::{IllegalTransition, Refusal};
pub use run::{Asked, Awaited, Heard, OpenChild, Run};
pub use session::{
    Document, Misfit, RunStatus, RunTrack, SessionNote, SessionView, TrackEdge, TrackNode,
    reduce_documents,
};
pub use status_time::StatusTime;
pub use transition::{TABLE, transition};
pub use update::{ResumeMark, StatusUpdate, Update, shows, update};
pub use view::RunView;
