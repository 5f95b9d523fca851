//! Retention by command.

use std::fs;

use trackway_testkit::GuidedRunBuilder;

use super::{with_ticket, write};

/// Proves T17.
#[test]
fn old_sessions_are_removed_and_unfinished_ones_never() {
    let folder = with_ticket();
    let done = GuidedRunBuilder::new_guided_run(8, "ticket-8", "review")
        .open_node("a")
        .advance_node("a", "end")
        .complete_run();
    write(&folder, &[done]);
    let prune = |args: &[&str]| {
        let mut all = vec!["sessions", "prune"];
        all.extend(args);
        folder.run_command(&all)
    };
    // The recorded runs are of January 2026, and a hundred years are longer ago.
    assert_eq!(prune(&["--older-than", "36500d"]).expect(0).stdout, "");
    assert_eq!(prune(&["--dry-run"]).expect(0).stdout, "ticket-8\n");
    let workspace = folder.path().to_str().unwrap();
    let config = folder.path().join("trackway.toml");
    fs::write(&config, "[retention]\ndays = 36500\n").unwrap();
    assert_eq!(prune(&["--workspace", workspace]).expect(0).stdout, "");
    fs::write(&config, "[retention]\nenabled = false\n").unwrap();
    prune(&["--workspace", workspace]).expect(2);
    fs::write(&config, "[retention]\ndays = 0\n").unwrap();
    prune(&["--workspace", workspace]).expect(2);
    let removed = prune(&["--older-than", "0s", "--json"]).expect(0).json();
    assert_eq!(removed["sessions"][0]["sessionId"], "ticket-8");
    assert_eq!(removed["sessions"].as_array().unwrap().len(), 1);
    let left = folder.run_command(&["sessions", "list", "--json"]).expect(0).json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    prune(&["--older-than", "soon"]).expect(2);
}
