//! YAML: the parser's events become a value and its lines.
//!
//! One document, text keys, no tags except `!!str`, no merge keys. An alias is a copy of its anchor, and
//! copies are counted, so that a small file cannot become a large value.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};
use trackway_domain::JSON_DEPTH_MAX;

use super::{
    FILE_BYTES_MAX, InnerLocations, LocatedValue, ValueLocation, finding_at, join_pointer, line_number,
    repeated_key_finding, too_deep_finding, yaml_scalar,
};
use crate::Finding;

pub(super) fn parse_yaml(text: &str) -> Result<LocatedValue, Finding> {
    let mut building = YamlBuilder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| yaml_finding(&error))?;
        building.apply_yaml_event(event, &span)?;
    }
    building
        .root
        .map(|root| LocatedValue { value: root.value, locations: root.place })
        .ok_or_else(|| finding_at(String::new(), 1, "the file is empty"))
}

fn yaml_finding(error: &ScanError) -> Finding {
    let line = line_number(error.marker().line());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep_finding(String::new(), line);
    }
    let (why, column) = (error.info(), error.marker().col() + 1);
    finding_at(String::new(), line, format!("this is not YAML: {why} (column {column})"))
}

/// A value with its counted size.
#[derive(Clone)]
struct BuiltYamlValue {
    value: Value,
    place: ValueLocation,
    /// Bytes of text and number of values: what a copy of it costs.
    weight: usize,
    /// Levels of nesting, itself included.
    height: usize,
}

/// A list or a mapping that is not complete yet.
struct OpenYamlCollection {
    line: u32,
    anchor: usize,
    weight: usize,
    height: usize,
    content: YamlCollectionContent,
}

enum YamlCollectionContent {
    Items {
        values: Vec<Value>,
        places: Vec<ValueLocation>,
    },
    Entries {
        values: Map<String, Value>,
        places: BTreeMap<String, ValueLocation>,
        key: Option<PendingYamlKey>,
    },
}

/// A key that waits for its value.
struct PendingYamlKey {
    name: String,
    line: u32,
}

#[derive(Default)]
struct YamlBuilder {
    open: Vec<OpenYamlCollection>,
    /// The possible targets of aliases: anchors whose value is complete.
    anchored: HashMap<usize, BuiltYamlValue>,
    copied_bytes: usize,
    root: Option<BuiltYamlValue>,
}

impl YamlBuilder {
    fn apply_yaml_event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Finding> {
        let line = line_number(span.start.line());
        match event {
            Event::Scalar(word, style, anchor, tag) => {
                self.check_yaml_tag(tag.as_deref(), line, true)?;
                if self.expects_mapping_key() {
                    return self.add_mapping_key(&word, style, line);
                }
                let value = if style == ScalarStyle::Plain && tag.is_none() {
                    yaml_scalar::parse_yaml_scalar(&word)
                        .map_err(|why| finding_at(self.current_yaml_pointer(), line, why))?
                } else {
                    Value::String(word.to_string())
                };
                let weight = word.len() + 1;
                self.add_built_value(
                    BuiltYamlValue { value, place: ValueLocation::location_at_line(line), weight, height: 1 },
                    anchor,
                )
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_yaml_tag(tag.as_deref(), line, false)?;
                let content = YamlCollectionContent::Items { values: Vec::new(), places: Vec::new() };
                self.open_collection(line, anchor, content)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_yaml_tag(tag.as_deref(), line, false)?;
                let (values, places) = (Map::new(), BTreeMap::new());
                self.open_collection(
                    line,
                    anchor,
                    YamlCollectionContent::Entries { values, places, key: None },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.close_collection(),
            Event::Alias(anchor) => self.add_alias_value(anchor, line),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(finding_at(String::new(), line, "the file has more than one document")
                    .with_suggestion("put each workflow into a file of its own"))
            }
            Event::UnresolvedAlias(name) => {
                Err(finding_at(self.current_yaml_pointer(), line, format!("nothing has the anchor &{name}")))
            }
            // Start and end of the stream and of its one document, and comments.
            _ => Ok(()),
        }
    }

    fn open_collection(
        &mut self,
        line: u32,
        anchor: usize,
        content: YamlCollectionContent,
    ) -> Result<(), Finding> {
        if self.expects_mapping_key() {
            return Err(finding_at(
                self.current_yaml_pointer(),
                line,
                "a key has to be a word, not a list or a mapping",
            ));
        }
        // The innermost value counts as a level, as it does for values from the wire.
        if self.open.len() + 1 >= JSON_DEPTH_MAX {
            return Err(too_deep_finding(self.current_yaml_pointer(), line));
        }
        self.open.push(OpenYamlCollection { line, anchor, weight: 1, height: 1, content });
        Ok(())
    }

    fn close_collection(&mut self) -> Result<(), Finding> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (value, inner) = match open.content {
            YamlCollectionContent::Items { values, places } => {
                (Value::Array(values), InnerLocations::Items(places))
            }
            YamlCollectionContent::Entries { values, places, .. } => {
                (Value::Object(values), InnerLocations::Entries(places))
            }
        };
        let place = ValueLocation { line: open.line, inner };
        self.add_built_value(
            BuiltYamlValue { value, place, weight: open.weight, height: open.height },
            open.anchor,
        )
    }

    fn add_mapping_key(&mut self, word: &str, style: ScalarStyle, line: u32) -> Result<(), Finding> {
        if word == "<<" && style == ScalarStyle::Plain {
            return Err(finding_at(
                self.current_yaml_pointer(),
                line,
                "merge keys (<<) are not part of this format",
            )
            .with_suggestion("write the keys out"));
        }
        let Some(OpenYamlCollection {
            content: YamlCollectionContent::Entries { places, key, .. },
            weight,
            ..
        }) = self.open.last_mut()
        else {
            return Ok(());
        };
        if let Some(first) = places.get(word) {
            let first = first.line;
            return Err(repeated_key_finding(
                self.current_yaml_pointer() + &join_pointer([word]),
                line,
                word,
                first,
            ));
        }
        *weight += word.len();
        *key = Some(PendingYamlKey { name: word.to_owned(), line });
        Ok(())
    }

    /// Adds a finished value to its parent.
    fn add_built_value(&mut self, built: BuiltYamlValue, anchor: usize) -> Result<(), Finding> {
        if anchor != 0 {
            self.count_alias_copy(built.weight, built.place.line)?;
            self.anchored.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built);
            return Ok(());
        };
        open.weight += built.weight;
        open.height = open.height.max(built.height + 1);
        match &mut open.content {
            YamlCollectionContent::Items { values, places } => {
                values.push(built.value);
                places.push(built.place);
            }
            YamlCollectionContent::Entries { values, places, key } => {
                // There is a key: anything that is not a word was refused as a key.
                if let Some(key) = key.take() {
                    places.insert(key.name.clone(), ValueLocation { line: key.line, ..built.place });
                    values.insert(key.name, built.value);
                }
            }
        }
        Ok(())
    }

    /// Anchors keep a copy, and aliases make more.
    fn count_alias_copy(&mut self, weight: usize, line: u32) -> Result<(), Finding> {
        self.copied_bytes += weight;
        if self.copied_bytes > FILE_BYTES_MAX {
            let why = format!("the aliases of this file stand for more than {FILE_BYTES_MAX} bytes");
            return Err(finding_at(self.current_yaml_pointer(), line, why));
        }
        Ok(())
    }

    fn add_alias_value(&mut self, anchor: usize, line: u32) -> Result<(), Finding> {
        if self.expects_mapping_key() {
            return Err(finding_at(
                self.current_yaml_pointer(),
                line,
                "a key has to be a word, not an alias",
            ));
        }
        let Some(&BuiltYamlValue { weight, height, .. }) = self.anchored.get(&anchor) else {
            return Err(finding_at(
                self.current_yaml_pointer(),
                line,
                "this alias refers to what it is a part of",
            ));
        };
        self.count_alias_copy(weight, line)?;
        if self.open.len() + height > JSON_DEPTH_MAX {
            return Err(too_deep_finding(self.current_yaml_pointer(), line));
        }
        let Some(built) = self.anchored.get(&anchor).cloned() else { return Ok(()) };
        self.add_built_value(built, 0)
    }

    fn check_yaml_tag(&self, tag: Option<&Tag>, line: u32, is_scalar: bool) -> Result<(), Finding> {
        match tag {
            Some(tag) if !(is_scalar && tag.is_yaml_core_schema_tag("str")) => {
                let why = format!("the tag {} has no meaning here", tag.original());
                Err(finding_at(self.current_yaml_pointer(), line, why).with_suggestion("leave the tag out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the next event is a key of the innermost mapping.
    fn expects_mapping_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(OpenYamlCollection { content: YamlCollectionContent::Entries { key: None, .. }, .. })
        )
    }

    /// Pointer of the value that is being read.
    fn current_yaml_pointer(&self) -> String {
        let segments: Vec<String> = self
            .open
            .iter()
            .filter_map(|open| match &open.content {
                YamlCollectionContent::Items { values, .. } => Some(values.len().to_string()),
                YamlCollectionContent::Entries { key, .. } => key.as_ref().map(|key| key.name.clone()),
            })
            .collect();
        join_pointer(segments.iter().map(String::as_str))
    }
}
