//! Trackway's journal and blob store in one folder: SQLite with group commit.
//!
//! The folder holds `trackway.db` (readable with the `sqlite3` tool) and `blobs/`. One thread writes,
//! another moves committed pages from the write-ahead log into the database, and a few connections
//! read. An acknowledged append survives a power cut.
//!
//! The path of an append: [`SqliteJournal`] encodes it on the caller's thread (`prepared`), the
//! writer thread commits it together with other waiting appends (`writer`), and then calls its
//! `done`.

mod blobs;
mod checkpoint;
mod checksum;
mod database;
mod error;
mod journal;
mod json;
mod leases;
mod marks;
mod migrate;
mod prepared;
mod private;
mod read;
mod readers;
mod store;
mod wal;
mod writer;

pub use blobs::FolderBlobs;
pub use database::OpenError;
pub use journal::{Options, SqliteJournal};
pub use private::{make_private_folder, private_file};
pub use store::SqliteStore;
