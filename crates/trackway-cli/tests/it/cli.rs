//! The commands, as somebody types them.

mod errors;
mod init;
mod replay_check;
mod run;
mod runs;
mod serve;
mod sessions;
mod workspace;
