//! The snapshot that doors render: history, artifacts, generations, times.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::fixture::{ScriptedRun, decision_text};

fn text(message: &Message) -> &str {
    message.parts[0].as_text().unwrap_or("(data)")
}

fn history(story: &ScriptedRun) -> Vec<&str> {
    story.view().message_history().map(|message| text(message)).collect()
}

fn status(story: &ScriptedRun) -> Option<&str> {
    story.view().status_message().map(|message| text(message))
}

fn artifacts(story: &ScriptedRun) -> Vec<String> {
    let artifacts = story.view().artifacts.iter();
    artifacts
        .map(|artifact| {
            let texts: Vec<_> = artifact.parts.iter().filter_map(|part| part.as_text()).collect();
            format!("{}: {}", artifact.id, texts.join(", "))
        })
        .collect()
}

/// Proves L3: all messages of both sides in order, except the status' own.
#[test]
fn the_history_is_every_message_but_the_current_status() {
    let mut story = ScriptedRun::after_commands("submit");
    assert_eq!((history(&story), status(&story)), (vec!["please"], None));
    story.try_scripted_command("status one").unwrap();
    story.try_scripted_command("say meanwhile").unwrap();
    assert_eq!(history(&story), ["please", "meanwhile"]);
    assert_eq!(status(&story), Some("one"));
    story.try_scripted_command("status two").unwrap();
    assert_eq!(history(&story), ["please", "one", "meanwhile"]);
    story.try_scripted_command("ask amount").unwrap();
    story.try_scripted_command("say lots").unwrap();
    assert_eq!(history(&story), ["please", "one", "meanwhile", "two", "How much?", "lots"]);
    assert_eq!(status(&story), Some("How much?"), "put again");
    story.try_scripted_command("answer amount=5").unwrap();
    assert_eq!(status(&story), None, "the working of a resume has no message");
    story.try_scripted_command("say q1 again").unwrap();
    story.try_scripted_command("error oops").unwrap();
    let all = "please, one, meanwhile, two, How much?, lots, How much?, (data), again";
    assert_eq!(history(&story).join(", "), all);
    assert_eq!(status(&story), Some("oops"));
}

/// Proves L13, L16: a request after the end gets a reply, but the finished run does not change.
#[test]
fn a_late_request_after_the_end_is_not_shown() {
    let mut story = ScriptedRun::after_commands("submit; ask amount; answer amount=5; return 1");
    let before = story.view().clone();
    story.try_scripted_command("answer q1 amount=6").unwrap();
    let after = story.view();
    assert_eq!((after.seq, after.pos), (before.seq + 1, before.pos + 1));
    let (seq, pos) = (before.seq, before.pos);
    assert_eq!(&RunView { seq, pos, ..after.clone() }, &before);
}

/// Proves L4: artifacts accumulate in order; the same id replaces, or extends with append.
#[test]
fn artifacts_accumulate_replace_and_grow() {
    let mut story = ScriptedRun::after_commands("submit; artifact a 1; artifact b 2; append a 3; append c 4");
    assert_eq!(artifacts(&story), ["a: 1, 3", "b: 2", "c: 4"]);
    story.try_scripted_command("artifact a 5").unwrap();
    assert_eq!(artifacts(&story), ["a: 5", "b: 2", "c: 4"]);
    story.try_scripted_command("append a 6").unwrap();
    assert_eq!(artifacts(&story), ["a: 5, 6", "b: 2", "c: 4"]);
}

/// Proves L4, L9, L14: a valid or invalid answer loses no earlier content.
#[test]
fn a_resume_keeps_artifacts_and_history() {
    let mut story = ScriptedRun::after_commands("submit; status hi; artifact a 1; ask form");
    let kept = artifacts(&story);
    assert_eq!(kept, ["a: 1", "form.json: preview"]);
    for answer in ["answer amount=0", "answer amount=5"] {
        story.try_scripted_command(answer).unwrap();
        assert_eq!(artifacts(&story), kept, "after {answer}");
        assert_eq!(history(&story)[..2], ["please", "hi"], "after {answer}");
    }
    assert_eq!(history(&story).len(), 6, "two prompts and two answers more");
}

/// Proves L9, L16: the task carries which request resumed it, until the next one does.
#[test]
fn the_view_carries_the_last_resume() {
    let mut story = ScriptedRun::after_commands("submit; ask amount; answer amount=0");
    assert_eq!(story.view().resume, None);
    let mut marks = Vec::new();
    for words in ["answer amount=5", "answer amount=6", "ask signature", "answer signature=me"] {
        story.try_scripted_command(words).unwrap();
        let mark = story.view().resume.unwrap();
        marks.push((mark.order, mark.concurrent, mark.primary));
    }
    let (first, second) = ((2, false, true), (1, false, true));
    assert_eq!(marks, [first, first, first, second]);
}

/// Proves L14: the view has the question exactly while the run waits for it.
#[test]
fn the_question_is_shown_while_it_is_open() {
    let mut story = ScriptedRun::after_commands("submit; ask amount; answer amount=0; status hi");
    let question = story.view().question.clone().unwrap();
    assert_eq!(question.id, story.questions()[0]);
    story.try_scripted_command("answer amount=5").unwrap();
    assert_eq!(story.view().question, None);
    for end in ["cancel", "reject no", "return 1", "error oops", "withdraw q1"] {
        let story = ScriptedRun::after_commands(&format!("submit; ask amount; {end}"));
        assert_eq!(story.view().question, None, "after {end}");
    }
}

/// Proves L18: the time of the newest status; artifacts and notes do not change it.
#[test]
fn a_status_has_the_moment_it_was_published() {
    let mut story = ScriptedRun::after_commands("submit");
    let mut moments = Vec::new();
    for words in [
        "status hi",
        "artifact a 1",
        "say hello",
        "ask amount",
        "answer amount=0",
        "answer amount=5",
        "step pay",
        "return 1",
    ] {
        story.try_scripted_command(words).unwrap();
        moments.push(story.view().status_at.millis() / 1_000);
    }
    assert_eq!(moments, [2, 2, 2, 5, 6, 7, 7, 9]);
    assert_eq!(story.view().created_at.millis(), 1_000);
}

/// Proves L4, L13: the generation grows by one with each change of state and each artifact, and with
/// nothing else.
#[test]
fn generations_count_without_a_gap() {
    let whole = ScriptedRun::after_commands(
        "submit; status hi; artifact a 1; append a 2; ask form; answer amount=0; status wait; \
         answer amount=5; say more; park mismatch; unpark; step pay; return 5; answer q1 amount=7",
    );
    let mut run = None;
    let mut view = None;
    let mut rows = Vec::new();
    for (index, (event, at)) in whole.log.iter().enumerate() {
        crate::fixture::fold_into_projections(&mut run, &mut view, event, *at, index as u64 + 1);
        let view: &RunView = view.as_ref().unwrap();
        assert_eq!((view.seq, view.pos), (index as u64 + 1, index as u64 + 1));
        rows.push(format!("{} {}", view.generation, decision_text::render_event_line(event)));
    }
    assert_snapshot!(whole.with_short_ids(rows.join("\n")), @r#"
    1 submitted demo
    2 started
    2 status working "hi"
    3 artifact a = "1"
    4 artifact a += "2"
    5 artifact form.json = "preview"
    6 asked q1 input-required "How much?"
    6 refused q1 #1 alone (wrong: /amount exclusiveMinimum)
    6 status input-required "wait"
    7 resumed q1 #2 alone {"amount":5}
    7 late-answer q1 #3 concurrent (wrong:  type)
    7 parked working "mismatch"
    7 unparked
    7 step-done step:pay#0 "done"
    8 completed 5
    8 late-answer q1 #4 concurrent
    "#);
}

/// Proves L10: the output is there once the run completed.
#[test]
fn the_output_comes_with_the_end() {
    assert_eq!(ScriptedRun::after_commands("submit; status hi").view().output, json!(null));
    assert_eq!(ScriptedRun::after_commands("submit; return 5").view().output, json!(5));
    assert_eq!(ScriptedRun::after_commands("submit; error oops").view().output, json!(null));
}

/// Proves L12: the state stays; the mismatch is visible only while the run is parked.
#[test]
fn a_parked_run_says_why() {
    let mut story = ScriptedRun::after_commands("submit; status hi; park mismatch");
    assert_eq!(story.view().parked.as_ref().unwrap().message, "mismatch");
    assert_eq!(status(&story), Some("The run is parked: mismatch"));
    assert_eq!(story.view().state, StateName::Working);
    story.try_scripted_command("park another").unwrap();
    assert_eq!(story.view().parked.as_ref().unwrap().message, "another");
    story.try_scripted_command("status on again").unwrap();
    assert!(story.view().parked.is_some(), "until it is unparked");
    story.try_scripted_command("unpark").unwrap();
    assert_eq!(story.view().parked, None);
    let ended = ScriptedRun::after_commands("submit; park mismatch; cancel");
    assert_eq!(ended.view().parked, None);
}

/// Proves L14: other messages join the history, and the open question stays the status.
#[test]
fn the_open_question_stays_the_status_whatever_is_said_beside_it() {
    for beside in ["status wait", "child echo", "reference other", "park mismatch", "status"] {
        let mut story = ScriptedRun::after_commands("submit; ask amount");
        let (asked, at) = (story.view().status_message().cloned(), story.view().status_at);
        story.try_scripted_command(beside).unwrap();
        assert_eq!(story.view().status_message().cloned(), asked, "after {beside}");
        assert_eq!(story.view().status_at, at, "after {beside}");
        let said = history(&story).len() - 1;
        assert_eq!(said, usize::from(beside != "status"), "{beside} is in the history");
        story.try_scripted_command("answer amount=0").unwrap();
        let again = story.view().status_message().unwrap();
        assert!(again.metadata.contains_key("validationErrors"), "put again after {beside}");
    }
    let mut story = ScriptedRun::after_commands("submit; ask amount; status wait; withdraw q1");
    assert_eq!(status(&story), None, "withdrawn");
    story.try_scripted_command("status on").unwrap();
    assert_eq!(status(&story), Some("on"));
}

/// Proves L14: the mismatch is visible while the open question stays the status.
#[test]
fn a_parked_run_that_waits_goes_on_showing_its_question() {
    let mut story = ScriptedRun::after_commands("submit; ask amount");
    let asked = story.view().status_message().cloned();
    story.try_scripted_command("park mismatch").unwrap();
    story.try_scripted_command("park another").unwrap();
    assert_eq!(story.view().parked.as_ref().unwrap().message, "another");
    assert_eq!(story.view().status_message().cloned(), asked);
    story.try_scripted_command("unpark").unwrap();
    assert_eq!(story.view().parked, None);
    assert_eq!(story.view().status_message().cloned(), asked);
    assert_eq!(story.view().status_at.millis(), 2_000, "when it was asked");
    let parked = "The run is parked: mismatch, The run is parked: another";
    assert_eq!(history(&story).join(", "), format!("please, {parked}"));
}

/// Proves L12: unparking restores the status from before the run was parked.
#[test]
fn an_unparked_run_shows_what_it_showed_before() {
    let mut story = ScriptedRun::after_commands("submit; status hi; park mismatch; park another");
    assert_eq!(status(&story), Some("The run is parked: another"));
    story.try_scripted_command("unpark").unwrap();
    assert_eq!(status(&story), Some("hi"));
    assert_eq!(story.view().status_at.millis(), 2_000, "when it was said");
}

/// Proves L13: a status without content is not published, and still starts the run.
#[test]
fn a_status_without_a_message_is_not_published_a_second_time() {
    let mut story = ScriptedRun::after_commands("submit; status hi");
    let before = story.view().clone();
    story.try_scripted_command("status").unwrap();
    let after = story.view();
    let (seq, pos) = (before.seq, before.pos);
    assert_eq!(&RunView { seq, pos, ..after.clone() }, &before);
    let first = ScriptedRun::after_commands("submit; status");
    let shown = first.events().filter_map(visible_update).count();
    assert_eq!((first.view().state, shown), (StateName::Working, 2), "the run, and one working");
}

/// Proves D8: text that is yielded in pieces becomes one text; other parts are not joined.
#[test]
fn joined_pieces_of_a_text_are_one_part() {
    let mut view = ScriptedRun::after_commands("submit").view().clone();
    let op: trackway_domain::Op = "step:model#0".parse().unwrap();
    let mut show = |append: bool, joined: bool, part: Part| {
        let id = trackway_domain::ArtifactId::new("text").unwrap();
        let artifact = Artifact::new(id, vec![part]);
        let chunk = ArtifactChunk { artifact, append, last: false, joined };
        let event = Event::Artifact { op: op.clone(), chunk };
        view.apply_event(&event, Timestamp::default(), 2);
        let texts = view.artifacts[0].parts.iter().map(|part| part.as_text().unwrap_or("(data)"));
        texts.collect::<Vec<_>>().join("|")
    };
    assert_eq!(show(false, false, Part::text("a")), "a");
    assert_eq!(show(true, true, Part::text("b")), "ab");
    assert_eq!(show(true, true, Part::text("")), "ab");
    assert_eq!(show(true, false, Part::text("c")), "ab|c", "only where it is asked for");
    assert_eq!(show(true, true, Part::data(json!(1))), "ab|c|(data)");
    assert_eq!(show(true, true, Part::text("d")), "ab|c|(data)|d");
    let noted = Part::text("e").with_metadata("key", json!(1));
    assert_eq!(show(true, true, noted), "ab|c|(data)|d|e", "what has notes of its own stays");
    assert_eq!(show(false, false, Part::text("new")), "new");
}
