//! YAML: the parser's events become a value and its lines.
//!
//! One document, keys that are text, no tags but `!!str`, no merge keys. An alias is a copy of what its
//! anchor holds, and copies are counted, so that a small file cannot become a large value.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};
use trackway_domain::JSON_DEPTH_MAX;

use super::{
    Inner, Located, Place, TEXT_MAX, fault, line_number, pointer, repeated, scalar, too_deep,
};
use crate::Fault;

pub(super) fn locate(text: &str) -> Result<Located, Fault> {
    let mut building = Building::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| unreadable(&error))?;
        building.take(event, &span)?;
    }
    building
        .root
        .map(|root| Located { value: root.value, places: root.place })
        .ok_or_else(|| fault(String::new(), 1, "the file is empty"))
}

fn unreadable(error: &ScanError) -> Fault {
    let line = line_number(error.marker().line());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(String::new(), line);
    }
    let (why, column) = (error.info(), error.marker().col() + 1);
    fault(String::new(), line, format!("this is not YAML: {why} (column {column})"))
}

/// A value with what is counted of it.
#[derive(Clone)]
struct Built {
    value: Value,
    place: Place,
    /// Bytes of text and number of values: what a copy of it costs.
    weight: usize,
    /// Levels of nesting, itself included.
    height: usize,
}

/// A list or a mapping whose end has not come yet.
struct Open {
    line: u32,
    anchor: usize,
    weight: usize,
    height: usize,
    content: Content,
}

enum Content {
    Items { values: Vec<Value>, places: Vec<Place> },
    Entries { values: Map<String, Value>, places: BTreeMap<String, Place>, key: Option<Key> },
}

/// A key whose value has not come yet.
struct Key {
    name: String,
    line: u32,
}

#[derive(Default)]
struct Building {
    open: Vec<Open>,
    /// What aliases may refer to: anchors whose value is whole.
    anchored: HashMap<usize, Built>,
    copied: usize,
    root: Option<Built>,
}

impl Building {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        let line = line_number(span.start.line());
        match event {
            Event::Scalar(word, style, anchor, tag) => {
                self.check_tag(tag.as_deref(), line, true)?;
                if self.wants_key() {
                    return self.key(&word, style, line);
                }
                let value = if style == ScalarStyle::Plain && tag.is_none() {
                    scalar::plain(&word).map_err(|why| fault(self.path(), line, why))?
                } else {
                    Value::String(word.to_string())
                };
                let weight = word.len() + 1;
                self.add(Built { value, place: Place::at(line), weight, height: 1 }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), line, false)?;
                let content = Content::Items { values: Vec::new(), places: Vec::new() };
                self.begin(line, anchor, content)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), line, false)?;
                let (values, places) = (Map::new(), BTreeMap::new());
                self.begin(line, anchor, Content::Entries { values, places, key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, line),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(fault(String::new(), line, "the file has more than one document")
                    .suggest("put each workflow into a file of its own"))
            }
            Event::UnresolvedAlias(name) => {
                Err(fault(self.path(), line, format!("nothing has the anchor &{name}")))
            }
            // Starts and ends of the stream and of its one document, and comments.
            _ => Ok(()),
        }
    }

    fn begin(&mut self, line: u32, anchor: usize, content: Content) -> Result<(), Fault> {
        if self.wants_key() {
            return Err(fault(
                self.path(),
                line,
                "a key has to be a word, not a list or a mapping",
            ));
        }
        // The innermost value counts as a level, as it does for values that come over the wire.
        if self.open.len() + 1 >= JSON_DEPTH_MAX {
            return Err(too_deep(self.path(), line));
        }
        self.open.push(Open { line, anchor, weight: 1, height: 1, content });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (value, inner) = match open.content {
            Content::Items { values, places } => (Value::Array(values), Inner::Items(places)),
            Content::Entries { values, places, .. } => {
                (Value::Object(values), Inner::Entries(places))
            }
        };
        let place = Place { line: open.line, inner };
        self.add(Built { value, place, weight: open.weight, height: open.height }, open.anchor)
    }

    fn key(&mut self, word: &str, style: ScalarStyle, line: u32) -> Result<(), Fault> {
        if word == "<<" && style == ScalarStyle::Plain {
            return Err(fault(self.path(), line, "merge keys (<<) are not part of this format")
                .suggest("write the keys out"));
        }
        let Some(Open { content: Content::Entries { places, key, .. }, weight, .. }) =
            self.open.last_mut()
        else {
            return Ok(());
        };
        if let Some(first) = places.get(word) {
            let first = first.line;
            return Err(repeated(self.path() + &pointer([word]), line, word, first));
        }
        *weight += word.len();
        *key = Some(Key { name: word.to_owned(), line });
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn add(&mut self, built: Built, anchor: usize) -> Result<(), Fault> {
        if anchor != 0 {
            self.count_copy(built.weight, built.place.line)?;
            self.anchored.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built);
            return Ok(());
        };
        open.weight += built.weight;
        open.height = open.height.max(built.height + 1);
        match &mut open.content {
            Content::Items { values, places } => {
                values.push(built.value);
                places.push(built.place);
            }
            Content::Entries { values, places, key } => {
                // There is one: whatever is not a word was refused in the place of a key.
                if let Some(key) = key.take() {
                    places.insert(key.name.clone(), Place { line: key.line, ..built.place });
                    values.insert(key.name, built.value);
                }
            }
        }
        Ok(())
    }

    /// Anchors keep a copy, and aliases make more of them.
    fn count_copy(&mut self, weight: usize, line: u32) -> Result<(), Fault> {
        self.copied += weight;
        if self.copied > TEXT_MAX {
            let why = format!("the aliases of this file stand for more than {TEXT_MAX} bytes");
            return Err(fault(self.path(), line, why));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, line: u32) -> Result<(), Fault> {
        if self.wants_key() {
            return Err(fault(self.path(), line, "a key has to be a word, not an alias"));
        }
        let Some(&Built { weight, height, .. }) = self.anchored.get(&anchor) else {
            return Err(fault(self.path(), line, "this alias refers to what it is a part of"));
        };
        self.count_copy(weight, line)?;
        if self.open.len() + height > JSON_DEPTH_MAX {
            return Err(too_deep(self.path(), line));
        }
        let Some(built) = self.anchored.get(&anchor).cloned() else { return Ok(()) };
        self.add(built, 0)
    }

    fn check_tag(&self, tag: Option<&Tag>, line: u32, is_scalar: bool) -> Result<(), Fault> {
        match tag {
            Some(tag) if !(is_scalar && tag.is_yaml_core_schema_tag("str")) => {
                let why = format!("the tag {} has no meaning here", tag.original());
                Err(fault(self.path(), line, why).suggest("leave the tag out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the next thing is a key of the innermost mapping.
    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Entries { key: None, .. }, .. }))
    }

    /// Pointer of what is being read.
    fn path(&self) -> String {
        let way: Vec<String> = self
            .open
            .iter()
            .filter_map(|open| match &open.content {
                Content::Items { values, .. } => Some(values.len().to_string()),
                Content::Entries { key, .. } => key.as_ref().map(|key| key.name.clone()),
            })
            .collect();
        pointer(way.iter().map(String::as_str))
    }
}
