//! The commands, as a user types them.

mod agents;
mod errors;
mod init;
mod peers;
mod replay_check;
mod run;
mod runs;
mod serve;
mod sessions;
mod workflows;
mod workspace;
