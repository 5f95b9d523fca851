//! Guided runs from outside: whatever happens to the process, to the definition file or to the order of
//! calls, an answer is recorded once and gets the same response every time.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod answers;
mod cost;
mod crashes;
mod damage;
mod definition_programs;
mod engine;
mod files;
mod first_answers;
mod notes;
mod races;
mod random;
mod recaps;
mod step_notes;
mod support;
