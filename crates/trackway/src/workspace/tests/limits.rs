//! Limits that an agent's file sets.

use trackway_agent::ToolPermission;

use super::{load_workspace, render_findings};

/// Issue 11, A13 and S-H5: limits of a model and of first answers, and approvals of what every agent has.
#[test]
fn limits_of_an_agents_file_are_read() {
    let agent = "---\nname: a\nworkflows: [invest]\nbudgets: { tool_calls: 7 }\nmodel_timeout: 30\n\
                 first_answer_timeouts: { invest: 90, gone: 5 }\n\
                 approvals: { answer_task: ask, task_status: deny }\n---\nx\n";
    let (workspace, _) = load_workspace(&[("agents/a.md", agent)], &[]);
    let spec = &workspace.agents[0].spec;
    assert_eq!((spec.budgets.tool_calls, spec.model_timeout), (7, Some(30)));
    assert_eq!(spec.first_answer_timeouts["invest"], 90);
    assert_eq!(spec.approvals["answer_task"], ToolPermission::Ask);
    insta::assert_snapshot!(render_findings(&[("agents/a.md", agent)], &[]), @r#"unused: agents/a.md, line 6: first_answer_timeouts.gone: "a" dispatches no workflow that fits "gone""#);
    let wrong = "---\nname: a\nfirst_answer_timeouts: { invest: 3601 }\nmodel_timeout: 0\n---\nx\n";
    insta::assert_snapshot!(render_findings(&[("agents/a.md", wrong)], &[]), @r"
    error: agents/a.md, line 4: model_timeout: it is not a whole number, 1 or more
    error: agents/a.md, line 3: first_answer_timeouts.invest: it is at most 3600 seconds
    ");
}
