//! Random commands against the model, and the invariants of every log.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trackway_domain::{Event, QuestionId, StateName};

use super::model::ReferenceModel;
use crate::fixture::{ScriptedRun, fold_into_projections};
use crate::{StatusTime, VisibleUpdate, is_visible, visible_update};

/// Commands that keep a run going, mostly questions and answers.
const GOING: [&str; 32] = [
    "status hi",
    "artifact a one",
    "append a two",
    "artifact b three",
    "ask amount",
    "ask form",
    "ask signature",
    "ask amount",
    "ask signature",
    "step pay",
    "note pay t-1",
    "note pay t-2",
    "note pay null",
    "retry pay",
    "draw 0.1",
    "sleep nap",
    "fire sleep:nap#0",
    "fire step:pay#0",
    "child echo",
    "child-ended c1 completed",
    "child-ended c2 failed",
    "withdraw q1",
    "withdraw q2",
    "withdraw q3",
    "park mismatch",
    "park another",
    "unpark",
    "say hello",
    "say q1 hello",
    "answer amount=0",
    "submit",
    "answer q9 amount=5",
];

const ANSWERS: [&str; 8] = [
    "answer amount=5",
    "answer among-others amount=5",
    "answer signature=me",
    "answer q1 amount=5",
    "answer q2 signature=me",
    "answer q2 amount=0",
    "answer q3 amount=5",
    "answer q1 among-others signature=me",
];

const ENDING: [&str; 5] = ["return 5", "error oops", "cancel", "reject no", "fire deadline"];

fn commands() -> impl Strategy<Value = Vec<&'static str>> {
    let one = prop_oneof![
        20 => prop::sample::select(&GOING[..]),
        12 => prop::sample::select(&ANSWERS[..]),
        1 => prop::sample::select(&ENDING[..]),
    ];
    prop::collection::vec(one, 0..50)
}

/// The same runs every time, unless `PROPTEST_RNG_SEED` is set.
pub(super) fn seeded_config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_251_019);
    }
    config
}

/// A scripted run and its model after the same commands. A refused command changes nothing.
fn run_with_model(commands: &[&str]) -> (ScriptedRun, ReferenceModel) {
    let mut story = ScriptedRun::after_commands("submit deadline");
    let mut model = ReferenceModel::submitted();
    for command in commands {
        let before = (story.run.clone(), story.view.clone(), story.log.len());
        if story.try_scripted_command(command).is_err() {
            let after = (story.run.clone(), story.view.clone(), story.log.len());
            assert_eq!(after, before, "{command} was refused");
        }
        model.apply_command(command);
        assert_eq!(story.state().as_str(), model.state, "after {command}");
    }
    (story, model)
}

/// Orders of the requests at each question, and how many of them resumed the run.
fn request_orders(story: &ScriptedRun) -> BTreeMap<QuestionId, (Vec<u32>, usize)> {
    let mut requests: BTreeMap<_, (Vec<u32>, usize)> = BTreeMap::new();
    for event in story.events() {
        let request = match event {
            Event::Refused { request, .. } | Event::Resumed { request, .. } => request,
            Event::LateAnswer(late) => &late.request,
            _ => continue,
        };
        let (orders, resumed) = requests.entry(request.question).or_default();
        orders.push(request.order);
        *resumed += usize::from(matches!(event, Event::Resumed { .. }));
    }
    requests
}

proptest! {
    #![proptest_config(seeded_config())]

    /// Proves L9, L12, L13: the states of the model, its count of `working`, and one end that only
    /// late requests follow.
    #[test]
    fn a_run_goes_where_the_model_goes(commands in commands()) {
        let (story, model) = run_with_model(&commands);
        let statuses = story.events().filter_map(visible_update).filter_map(|update| match update {
            VisibleUpdate::Status(status) => Some(status),
            VisibleUpdate::Submitted | VisibleUpdate::Artifact(_) => None,
        });
        let statuses: Vec<_> = statuses.collect();
        let working = |state, message: bool| state == StateName::Working && !message;
        let works = statuses.iter().filter(|s| working(s.state, s.message.is_some())).count();
        prop_assert_eq!(works, model.works);
        let ends = statuses.iter().filter(|status| status.last).count();
        prop_assert_eq!(ends, usize::from(model.has_ended()));
        let after = story.events().skip_while(|event| {
            !matches!(visible_update(event), Some(VisibleUpdate::Status(status)) if status.last)
        });
        prop_assert!(after.skip(1).all(|event| matches!(event, Event::LateAnswer(_))));
    }

    /// Proves L16: at each question the orders are 1..n, and one request at most resumes.
    #[test]
    fn requests_are_counted_at_their_question(commands in commands()) {
        let (story, model) = run_with_model(&commands);
        let requests = request_orders(&story);
        prop_assert_eq!(story.questions().len(), model.questions.len());
        for (id, expected) in story.questions().iter().zip(&model.questions) {
            let (orders, resumed) = requests.get(id).cloned().unwrap_or_default();
            prop_assert_eq!(orders, (1..=expected.requests).collect::<Vec<_>>());
            prop_assert_eq!(resumed, usize::from(expected.answered));
        }
    }

    /// Proves L12, X2: the run that is read back from the stored text equals the live run.
    #[test]
    fn replay_equals_live(commands in commands()) {
        let (story, _) = run_with_model(&commands);
        let (mut run, mut view) = (None, None);
        for (index, (event, at)) in story.log.iter().enumerate() {
            let stored = serde_json::to_string(event).unwrap();
            let read: Event = serde_json::from_str(&stored).unwrap();
            prop_assert_eq!(&read, event);
            fold_into_projections(&mut run, &mut view, &read, *at, index as u64 + 1);
        }
        prop_assert_eq!(run, story.run);
        prop_assert_eq!(view, story.view);
    }

    /// Proves L18: the index of runs is ordered by the visible status time, and hooks get every
    /// visible update.
    #[test]
    fn the_status_time_is_the_one_shown(commands in commands()) {
        let (story, _) = run_with_model(&commands);
        let (mut run, mut view) = (None, None);
        let mut time = StatusTime::default();
        for (index, (event, at)) in story.log.iter().enumerate() {
            match index {
                0 => time = StatusTime::from_submission_time(*at),
                _ => time.apply_event(event, *at),
            }
            fold_into_projections(&mut run, &mut view, event, *at, index as u64 + 1);
            prop_assert_eq!(Some(time), view.as_ref().map(|view| view.status_time()));
            prop_assert_eq!(is_visible(event), visible_update(event).is_some());
        }
    }

    /// Proves L3, L4: every message of ours has a new id, none is lost, and generations have no gap.
    #[test]
    fn views_lose_nothing(commands in commands()) {
        let (story, model) = run_with_model(&commands);
        let view = story.view();
        let shown: Vec<_> = view.message_history().chain(view.status_message()).map(|m| &m.id).collect();
        let different: BTreeSet<_> = shown.iter().collect();
        prop_assert_eq!(different.len(), shown.len());
        let said = story.events().filter_map(visible_update).filter(|update| {
            matches!(update, VisibleUpdate::Status(status) if status.message.is_some())
        });
        let first_end = story.events().position(|event| {
            matches!(visible_update(event), Some(VisibleUpdate::Status(status)) if status.last)
        });
        let open = story.events().take(first_end.unwrap_or(story.log.len()));
        let heard = open.filter(|event| matches!(event.event_name(),
            "submitted" | "refused" | "resumed" | "late-answer" | "noted"));
        prop_assert_eq!(shown.len(), said.count() + heard.count());
        let artifacts = story.events().filter(|event| event.event_name() == "artifact").count();
        prop_assert_eq!(view.generation as usize, 1 + story.moves.len() + artifacts);
        prop_assert_eq!(view.question.is_some(), model.state.ends_with("-required"));
        prop_assert_eq!(view.seq as usize, story.log.len());
    }
}
