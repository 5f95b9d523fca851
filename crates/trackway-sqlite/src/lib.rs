//! Trackway's journal, blobs and keys in one folder: SQLite with group commit.
//!
//! The folder holds `trackway.db` (readable with the `sqlite3` tool), `blobs/`, and a file for each document
//! of keys, such as `keys.json`. One thread writes, another moves committed pages from the write-ahead log into the database, and a few connections
//! read. An acknowledged append survives a power cut.
//!
//! The path of an append: [`SqliteJournal`] encodes it on the caller's thread (`write_jobs`), the
//! writer thread commits it together with other waiting appends (`writer`), and then calls its
//! `done`.

mod artifact_rows;
mod artifacts;
mod audit;
mod blobs;
mod checksum;
mod database;
mod guided_index_entries;
mod journal;
mod json;
mod keys;
mod leases;
mod migrate;
mod private_files;
mod read;
mod reader_pool;
mod sqlite_error;
mod store;
mod wal_checkpoint;
mod wal_inspection;
mod write_jobs;
mod writer;

pub use blobs::FolderBlobStore;
pub use database::OpenDatabaseError;
pub use journal::{SqliteJournal, SqliteOptions};
pub use keys::FolderKeys;
pub use private_files::{create_private_folder, private_file_options};
pub use store::SqliteStore;
