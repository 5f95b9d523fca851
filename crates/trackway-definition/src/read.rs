//! From a file's text to a definition: each file is read by itself, then linked with those it refers to.

use crate::{Definition, Fault};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

/// One file, read by itself. What it refers to is not in it yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub id: String,
}

/// Why a file is no definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The id, where the file says one.
    pub id: Option<String>,
    pub faults: Vec<Fault>,
}

pub fn read(text: &str, format: Format) -> Result<Draft, Unreadable> {
    let _ = (text, format);
    todo!("the reader")
}

impl Draft {
    /// Ids of the workflows that it refers to.
    pub fn references(&self) -> Vec<&str> {
        todo!("the reader")
    }

    /// The definition in its normal form, with everything it refers to inside.
    pub fn link<'a>(
        &'a self,
        library: &dyn Fn(&str) -> Option<&'a Draft>,
    ) -> Result<Definition, Vec<Fault>> {
        let _ = library;
        todo!("the reader")
    }
}
