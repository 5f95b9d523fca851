//! Notes that would do, made of what the criteria ask for.

use trackway_domain::Object;

use super::judge;
use crate::condition::holds;
use crate::model::{Criteria, TextTest};
use crate::pattern::sample;
use crate::schema;

/// An example that is longer says no more.
/// Limit (Definitions): example for notes.
const EXAMPLE_CHARS_MAX: usize = 16 * 1024;

/// Alternatives that are tried. Whoever writes more has one among these that can be met by writing.
/// Limit (Definitions): alternatives that an example tries.
const CHOICES_MAX: usize = 16;

/// Notes that would do: those given with what they lack, or new ones; tried before they are offered.
pub(super) fn example(criteria: &Criteria, text: &str, context: &Object) -> Option<String> {
    let choices = 0..most(criteria).min(CHOICES_MAX);
    choices.into_iter().find_map(|choice| {
        let mut draft = Draft { choice, ..Draft::default() };
        draft.gather(criteria, context);
        let drafts = [draft.json.clone(), Some(draft.written(text)), Some(draft.written(""))];
        drafts.into_iter().flatten().find(|draft| {
            draft.len() <= EXAMPLE_CHARS_MAX
                && judge(criteria, draft, context, &mut Vec::new()).unwrap_or(false)
        })
    })
}

/// How many alternatives there are at most, of which one has to fit.
fn most(criteria: &Criteria) -> usize {
    match criteria {
        Criteria::All(all) => all.iter().map(most).max().unwrap_or(1),
        Criteria::Any(any) => any.iter().map(most).max().unwrap_or(1).max(any.len()),
        Criteria::Not(_) | Criteria::Rule { .. } => 1,
    }
}

/// What notes have to have, gathered from every rule that can be met by writing.
#[derive(Default)]
struct Draft {
    /// Which of several alternatives is met.
    choice: usize,
    parts: Vec<String>,
    least: u64,
    json: Option<String>,
}

impl Draft {
    fn gather(&mut self, criteria: &Criteria, context: &Object) {
        match criteria {
            Criteria::All(all) => all.iter().for_each(|one| self.gather(one, context)),
            Criteria::Any(any) => {
                let chosen = any.get(self.choice).or(any.last());
                chosen.into_iter().for_each(|one| self.gather(one, context));
            }
            Criteria::Not(_) => {}
            Criteria::Rule { when, test, .. } => {
                let counts = when.as_ref().is_none_or(|when| holds(when, context).unwrap_or(false));
                match test {
                    _ if !counts => {}
                    TextTest::Contains(part) => self.parts.push(part.clone()),
                    TextTest::Matches(pattern) => self.parts.extend(sample(pattern)),
                    TextTest::Length { min, .. } => self.least = self.least.max(min.unwrap_or(0)),
                    TextTest::Schema(schema) => {
                        self.json = Some(schema::made(schema, schema).to_string());
                    }
                }
            }
        }
    }

    fn written(&self, start: &str) -> String {
        let mut text = start.to_owned();
        for part in &self.parts {
            if !text.contains(part.as_str()) {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part);
            }
        }
        let least = self.least.min(EXAMPLE_CHARS_MAX as u64) as usize;
        let short = least.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('…', short));
        text
    }
}
