//! What lies where in the pages of a database file, as its format has it.

/// What a byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What makes a page a page: its header, where its cells begin, and which pages lie below it. One
    /// such byte is about many rows.
    Structure,
    /// A row, or a key.
    Content,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

pub(super) const PAGE_BYTES: usize = 4_096;

/// Every so many bytes of the used part of these pages, which are numbered from 1.
pub(super) fn places(whole: &[u8], pages: &[usize], stride: usize) -> Vec<Place> {
    let mut found = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let begin = (page - 1) * PAGE_BYTES;
        let page = Page::of(&whole[begin..begin + PAGE_BYTES]);
        // Begins elsewhere in each page.
        for at in (number * 31 % stride..PAGE_BYTES).step_by(stride) {
            if let Some(kind) = page.kind(at) {
                found.push(Place { at: begin + at, kind });
            }
        }
    }
    found
}

struct Page {
    /// Of tables and of indexes: these have pages below them.
    is_interior: bool,
    /// Where the list of cells ends.
    list_end: usize,
    content: usize,
    cells: Vec<usize>,
}

impl Page {
    fn of(bytes: &[u8]) -> Self {
        let short = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        let is_interior = match bytes[0] {
            2 | 5 => true,
            10 | 13 => false,
            other => panic!("no page of a table or an index: {other}"),
        };
        let header = if is_interior { 12 } else { 8 };
        let list_end = header + 2 * short(3);
        let cells = (header..list_end).step_by(2).map(short).collect();
        Self { is_interior, list_end, content: short(5), cells }
    }

    /// None where nothing lies.
    fn kind(&self, at: usize) -> Option<Kind> {
        if at < self.list_end {
            return Some(Kind::Structure);
        }
        if at < self.content {
            return None;
        }
        let is_pointer = |cell: &usize| (*cell..cell + 4).contains(&at);
        Some(match self.is_interior && self.cells.iter().any(is_pointer) {
            true => Kind::Structure,
            false => Kind::Content,
        })
    }
}
