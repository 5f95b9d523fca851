//! Example notes, built from the criteria.

use trackway_domain::Object;

use super::notes_satisfy;
use crate::condition::condition_holds;
use crate::model::{NotesCriteria, NotesTextTest};
use crate::regex_pattern::sample_text_matching;
use crate::schema_validation;

/// A longer example does not help more.
/// Limit (Definitions): example for notes.
const EXAMPLE_CHARS_MAX: usize = 16 * 1024;

/// Alternatives that are tried. One of these is usually enough.
/// Limit (Definitions): alternatives that an example tries.
const CHOICES_MAX: usize = 16;

/// Notes that would pass: the sent notes with what they lack, or new ones. They are checked before they are
/// offered.
pub(super) fn build_example_notes(criteria: &NotesCriteria, text: &str, context: &Object) -> Option<String> {
    let choices = 0..max_criteria_alternatives(criteria).min(CHOICES_MAX);
    choices.into_iter().find_map(|choice| {
        let mut draft = ExampleNotesDraft { choice, ..ExampleNotesDraft::default() };
        draft.collect_notes_requirements(criteria, context);
        let drafts =
            [draft.json.clone(), Some(draft.render_draft_notes(text)), Some(draft.render_draft_notes(""))];
        drafts.into_iter().flatten().find(|draft| {
            draft.len() <= EXAMPLE_CHARS_MAX
                && notes_satisfy(criteria, draft, context, &mut Vec::new()).unwrap_or(false)
        })
    })
}

/// The largest number of alternatives of which one has to fit.
fn max_criteria_alternatives(criteria: &NotesCriteria) -> usize {
    match criteria {
        NotesCriteria::All(all) => all.iter().map(max_criteria_alternatives).max().unwrap_or(1),
        NotesCriteria::Any(any) => {
            any.iter().map(max_criteria_alternatives).max().unwrap_or(1).max(any.len())
        }
        NotesCriteria::Not(_) | NotesCriteria::Rule { .. } => 1,
    }
}

/// What notes have to contain, collected from every rule that added text can satisfy.
#[derive(Default)]
struct ExampleNotesDraft {
    /// Which of several alternatives is used.
    choice: usize,
    parts: Vec<String>,
    min_length: u64,
    json: Option<String>,
}

impl ExampleNotesDraft {
    fn collect_notes_requirements(&mut self, criteria: &NotesCriteria, context: &Object) {
        match criteria {
            NotesCriteria::All(all) => {
                all.iter().for_each(|one| self.collect_notes_requirements(one, context))
            }
            NotesCriteria::Any(any) => {
                let chosen = any.get(self.choice).or(any.last());
                chosen.into_iter().for_each(|one| self.collect_notes_requirements(one, context));
            }
            NotesCriteria::Not(_) => {}
            NotesCriteria::Rule { when, test, .. } => {
                let counts = when.as_ref().is_none_or(|when| condition_holds(when, context).unwrap_or(false));
                match test {
                    _ if !counts => {}
                    NotesTextTest::Contains(part) => self.parts.push(part.clone()),
                    NotesTextTest::Matches(pattern) => self.parts.extend(sample_text_matching(pattern)),
                    NotesTextTest::Length { min, .. } => {
                        self.min_length = self.min_length.max(min.unwrap_or(0))
                    }
                    NotesTextTest::Schema(schema) => {
                        self.json =
                            Some(schema_validation::example_for_subschema(schema, schema).to_string());
                    }
                }
            }
        }
    }

    fn render_draft_notes(&self, start: &str) -> String {
        let mut text = start.to_owned();
        for part in &self.parts {
            if !text.contains(part.as_str()) {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part);
            }
        }
        let least = self.min_length.min(EXAMPLE_CHARS_MAX as u64) as usize;
        let short = least.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('…', short));
        text
    }
}
