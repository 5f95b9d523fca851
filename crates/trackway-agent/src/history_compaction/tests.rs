//! Long conversations become short and stay conversations.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    ToolArguments, ToolUse,
    samples::{self, image, user},
};

fn model(text: &str) -> ConversationEntry {
    samples::model(text, Vec::new())
}

fn called(id: &str) -> ConversationEntry {
    samples::model("", vec![ToolUse::new(id, "look", json!({"n": 1}))])
}

fn result(id: &str, text: &str) -> ConversationEntry {
    samples::result(id, "look", text)
}

/// A text of about this many tokens.
fn tokens(count: usize) -> String {
    "abc ".repeat(count)
}

#[test]
fn tokens_are_estimated_by_bytes() {
    assert_eq!(estimate_text_tokens(""), 0);
    assert_eq!(estimate_text_tokens("abcde"), 2);
    assert_eq!(estimate_conversation_tokens(&[user(&tokens(100)), model("abcd")]), 100 + 4 + 1 + 4);
    assert_eq!(
        estimate_conversation_tokens(&[ConversationEntry::User { pieces: vec![image()] }]),
        IMAGE_TOKENS + ENTRY_TOKENS
    );
}

#[test]
fn short_history_is_not_compacted() {
    let entries = [user("Hello"), model("Hi.")];
    assert_eq!(plan_history_compaction(&entries, estimate_conversation_tokens(&entries)), None);
    assert_eq!(plan_history_compaction(&[], 0), None);
}

/// The last turns stay word for word, the oldest go.
#[test]
fn the_last_turns_are_kept() {
    let long = tokens(300);
    let entries =
        [user("one"), model(&long), user("two"), model(&long), user("three"), model("3"), user("four")];
    let plan = plan_history_compaction(&entries, 500).unwrap();
    assert_eq!(plan.removed, entries[..4]);
    assert_eq!(plan.kept, entries[4..]);
}

/// A turn that alone is too long keeps the message that it answers and its last calls.
#[test]
fn a_long_turn_keeps_its_message_and_its_last_calls() {
    let long = tokens(300);
    let entries = [
        user("old"),
        model("older"),
        user("do it"),
        called("a"),
        result("a", &long),
        called("b"),
        result("b", &long),
        called("c"),
        result("c", "short"),
    ];
    let plan = plan_history_compaction(&entries, 500).unwrap();
    assert_eq!(plan.removed, entries[..7]);
    assert_eq!(plan.kept, [user("do it"), called("c"), result("c", "short")]);
}

/// A message that alone is too long is not summarised repeatedly.
#[test]
fn no_compaction_without_a_gain() {
    let entries = [user("(summary)"), user(&tokens(1_000))];
    assert_eq!(plan_history_compaction(&entries, 500), None);
    assert_eq!(plan_history_compaction(&entries[1..], 500), None);
    let entries = [user("do it"), called("a"), result("a", &tokens(1_000))];
    assert_eq!(plan_history_compaction(&entries, 500), None);
}

/// The context sent to the model for a summary.
#[test]
fn a_summary_is_asked_for_and_enters_the_conversation() {
    let broken = ToolArguments::Broken { text: "{".into(), reason: "it ends".into() };
    let call = ToolUse { id: "b".into(), tool: "look".into(), arguments: broken, echo: None };
    let failed = ConversationEntry::Result {
        call: "b".into(),
        tool: "look".into(),
        pieces: vec![ContentPiece::Text("no".into()), image()],
        failed: true,
    };
    let gone = vec![
        user("What is it?"),
        called("a"),
        result("a", &format!("A door. {}", "x".repeat(9_000))),
        ConversationEntry::Model { text: "Again.".into(), calls: vec![call] },
        failed,
        model("A door."),
    ];
    let plan = CompactionPlan { removed: gone, kept: vec![user("And now?")] };
    let mut request = plan.build_summary_request();
    let ConversationEntry::User { pieces } = &mut request.entries[0] else { panic!() };
    let ContentPiece::Text(text) = &mut pieces[0] else { panic!() };
    *text = text.replace(&"x".repeat(8_184), "[8184 x]");
    insta::assert_json_snapshot!(request);

    let compacted = plan.clone().into_history_with_summary(" It is a door.\n");
    let summary = "(The conversation before this point was summed up to save room:)\n\
                   It is a door.\n(End of the summary.)";
    assert_eq!(compacted_entries(&compacted), [user(summary), user("And now?")]);
    assert_eq!(plan.clone().into_history_with_summary(" "), plan.into_history_without_summary());
}

/// With a model that cannot summarise, the oldest entries are dropped and a note says so.
#[test]
fn the_oldest_is_dropped_with_a_note() {
    let gone = vec![user("a"), called("a"), result("a", "1"), model("b")];
    let compacted = CompactionPlan { removed: gone, kept: vec![user("c")] }.into_history_without_summary();
    let note = "(The oldest 3 messages of this conversation are left out here: it had become too long.)";
    assert_eq!(compacted_entries(&compacted), [user(note), user("c")]);
}

/// The text for the summary is itself bounded.
#[test]
fn the_request_for_a_summary_is_bounded() {
    let gone = vec![user(&"y".repeat(8_000)); 60];
    let text = conversation_text::render_conversation(&gone);
    assert!(text.len() as u64 <= HISTORY_TOKENS_MAX * BYTES_PER_TOKEN + 100, "{}", text.len());
    assert!(text.starts_with("(the oldest 22 entries are left out)"), "{}", &text[..60]);
}

proptest! {
    /// For any conversation: no result is separated from its call, the message that is being answered
    /// stays, every lost entry is in the summarised part, and the next model call does not produce the
    /// same plan unless there is something new.
    #[test]
    fn a_compacted_conversation_is_whole(
        turns in prop::collection::vec((0usize..200, prop::collection::vec(0usize..400, 0..5)), 1..8),
        room in 100u64..3_000,
    ) {
        let mut entries = Vec::new();
        for (turn, (asked, results)) in turns.iter().enumerate() {
            entries.push(user(&format!("{turn} {}", tokens(*asked))));
            for (n, size) in results.iter().enumerate() {
                let id = format!("{turn}.{n}");
                entries.extend([called(&id), result(&id, &tokens(*size))]);
            }
            if turn + 1 < turns.len() {
                entries.push(model("done"));
            }
        }
        let Some(plan) = plan_history_compaction(&entries, room) else { return Ok(()) };
        let asked = entries.iter().rfind(|entry| matches!(entry, ConversationEntry::User { .. })).unwrap();
        prop_assert!(plan.kept.contains(asked));
        prop_assert!(entries.starts_with(&plan.removed));
        prop_assert!(plan.kept.ends_with(&entries[plan.removed.len()..]));
        let whole = compacted_entries(&plan.into_history_without_summary());
        for (at, entry) in whole.iter().enumerate() {
            if let ConversationEntry::Result { call, .. } = entry {
                let ConversationEntry::Model { calls, .. } = &whole[at - 1] else { panic!("{whole:?}") };
                prop_assert_eq!(&calls[0].id, call);
            }
        }
        prop_assert!(estimate_conversation_tokens(&whole) < estimate_conversation_tokens(&entries) + 40);
        if let Some(again) = super::plan_history_compaction(&whole, room) {
            prop_assert!(again.removed.len() > 1, "only the note itself would go");
        }
    }
}
