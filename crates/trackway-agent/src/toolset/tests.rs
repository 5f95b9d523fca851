//! The offered tools, their names, and the targets of called names.

use proptest::prelude::*;
use serde_json::json;
use trackway_runtime::{ProgramKind, ToolOrigin};

use super::*;

pub(super) fn agent(tools: &[&str], workflows: &[&str], approvals: &[(&str, ToolPermission)]) -> AgentSpec {
    let owned = |patterns: &[&str]| patterns.iter().map(|&text| text.to_owned()).collect();
    AgentSpec {
        name: "helper".into(),
        tools: owned(tools),
        workflows: owned(workflows),
        approvals: approvals.iter().map(|(name, how)| ((*name).to_owned(), *how)).collect(),
        ..AgentSpec::default()
    }
}

pub(super) fn workflow(name: &str) -> ProgramInfo {
    ProgramInfo {
        name: name.into(),
        kind: ProgramKind::Workflow,
        version: "1".into(),
        description: format!("Does {name}."),
        tags: Vec::new(),
        examples: Vec::new(),
        skills: Vec::new(),
        input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
        output_schema: json!({}),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        extensions: Vec::new(),
        deadline: None,
    }
}

pub(super) fn tool(name: &str) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object"}),
        origin: ToolOrigin::Local,
    }
}

fn names(set: &Toolset) -> Vec<String> {
    set.tool_specs().iter().map(|spec| spec.name.clone()).collect()
}

fn named(agent: &AgentSpec, workflows: &[&str], tools: &[&str]) -> Vec<String> {
    let workflows: Vec<ProgramInfo> = workflows.iter().map(|name| workflow(name)).collect();
    let tools: Vec<ToolInfo> = tools.iter().map(|name| tool(name)).collect();
    names(&Toolset::new(agent, &workflows, &tools))
}

/// Each workflow is a tool with the workflow's own schema. Proves D1.
#[test]
fn a_workflow_is_a_tool_with_its_input_schema() {
    let info = workflow("shop.order");
    let set = Toolset::new(&agent(&[], &["*"], &[]), [&info], []);
    let offered = set.find_offered_tool("dispatch_workflow_shop_order").unwrap();
    assert_eq!(offered.spec.schema, info.input_schema);
    assert_eq!(offered.spec.description, "Does shop.order.");
    assert_eq!(offered.target, ToolTarget::Workflow("shop.order".into()));
    assert_eq!(offered.tool_input_from_arguments(json!({"text": "x"})), json!({"text": "x"}));
}

/// Ordinary tools are offered together with workflows; both only if a pattern allows it. Proves D7.
#[test]
fn only_what_is_allowed_is_offered_in_a_stable_order() {
    let all = (["b", "a.x", "helper"], ["files__read", "files__write", "time"]);
    let table: [(&[&str], &[&str], &[&str]); 5] = [
        (
            &["*"],
            &["*"],
            &["dispatch_workflow_a_x", "dispatch_workflow_b", "files__read", "files__write", "time"],
        ),
        (&["files__*"], &["a.*"], &["dispatch_workflow_a_x", "files__read", "files__write"]),
        (&["*read", "time"], &[], &["files__read", "time"]),
        (&[], &["dispatch*", "b"], &["dispatch_workflow_b"]),
        (&["file"], &["B"], &[]),
    ];
    for (tools, workflows, expected) in table {
        let agent = agent(tools, workflows, &[]);
        assert_eq!(named(&agent, &all.0, &all.1), expected);
        let reversed = |names: [&'static str; 3]| {
            let mut names = names;
            names.reverse();
            names
        };
        assert_eq!(named(&agent, &reversed(all.0), &reversed(all.1)), expected);
    }
}

/// The longest pattern wins, by the name of the workflow or tool or by the name that the model sees. A
/// tool that may never be called is not offered but is still found, so that the model receives an
/// error.
#[test]
fn approvals_go_by_the_longest_pattern() {
    use ToolPermission::{Allow, Ask, Deny};
    let approvals = [
        ("*", Ask),
        ("files__*", Allow),
        ("files__write", Ask),
        ("*__remove", Deny),
        ("dispatch_workflow_pay", Ask),
        ("pay.now", Deny),
        ("echo*", Ask),
        ("*echo", Allow),
    ];
    let agent = agent(&["*"], &["*"], &approvals);
    let workflows = ["pay", "pay.now", "echo"].map(workflow);
    let tools = ["files__read", "files__write", "files__remove", "time"].map(tool);
    let set = Toolset::new(&agent, &workflows, &tools);
    let table = [
        ("dispatch_workflow_pay", Ask),
        ("dispatch_workflow_pay_now", Deny),
        ("dispatch_workflow_echo", Ask),
        ("files__read", Allow),
        ("files__write", Ask),
        ("files__remove", Deny),
        ("time", Ask),
    ];
    for (name, approval) in table {
        assert_eq!(set.find_offered_tool(name).unwrap().approval, approval, "{name}");
        assert_eq!(names(&set).contains(&name.to_owned()), approval != Deny, "{name}");
    }
    assert_eq!(permission_for_tool_names(&BTreeMap::new(), &["a", "b"]), Allow);
}

fn peer_tool(name: &str, origin: ToolOrigin) -> ToolInfo {
    ToolInfo { origin, ..tool(name) }
}

fn peer_tools() -> [ToolInfo; 3] {
    let workflow = |peer: &str| ToolOrigin::PeerWorkflow { peer: peer.into() };
    [
        peer_tool("workflow_onboarding", workflow("onboarding")),
        peer_tool("workflow_shop.order", workflow("shop.order")),
        peer_tool("peer_helpdesk", ToolOrigin::PeerAgent { peer: "helpdesk".into() }),
    ]
}

/// Proves I3: `peers` selects the tools of peers by their names, `tools` never does, and a peer's tool stands
/// beside a local one of the same name.
#[test]
fn peers_are_selected_by_their_own_patterns() {
    let all = |peers: &[&str]| AgentSpec {
        peers: peers.iter().map(|&peer| peer.to_owned()).collect(),
        ..agent(&["*"], &["*"], &[])
    };
    let offered = |peers: &[&str]| {
        let mut tools = vec![tool("time")];
        tools.extend(peer_tools());
        names(&Toolset::new(&all(peers), [], &tools))
    };
    let everything = ["peer_helpdesk", "time", "workflow_onboarding", "workflow_shop_order"];
    let table: [(&[&str], &[&str]); 5] = [
        (&[], &["time"]),
        (&["*"], &everything),
        (&["on*"], &["time", "workflow_onboarding"]),
        (&["helpdesk", "shop.*"], &["peer_helpdesk", "time", "workflow_shop_order"]),
        (&["workflow_onboarding"], &["time"]),
    ];
    for (peers, expected) in table {
        assert_eq!(offered(peers), expected, "{peers:?}");
    }
    let local = tool("workflow_onboarding");
    let [theirs, ..] = peer_tools();
    let set = Toolset::new(&all(&["*"]), &[workflow("onboarding")], [&local, &theirs]);
    assert_eq!(names(&set).len(), 3, "{:?}", names(&set));
    let targets: Vec<ToolTarget> =
        names(&set).iter().map(|name| set.find_offered_tool(name).unwrap().target.clone()).collect();
    assert!(targets.contains(&ToolTarget::Peer("onboarding".into())), "{targets:?}");
    assert!(targets.contains(&ToolTarget::Tool("workflow_onboarding".into())), "{targets:?}");
}

/// Proves I8 as far as the set decides it: only a workflow of a peer that is offered counts.
#[test]
fn approvals_cover_peers_by_the_names_of_tool_and_peer() {
    use ToolPermission::{Allow, Ask, Deny};
    let approval = |pattern: &str| {
        let spec = AgentSpec { peers: vec!["*".into()], ..agent(&[], &[], &[("*", Allow), (pattern, Deny)]) };
        Toolset::new(&spec, [], &peer_tools())
    };
    for pattern in ["onboarding", "workflow_onboarding", "workflow_on*"] {
        let set = approval(pattern);
        assert_eq!(set.find_offered_tool("workflow_onboarding").unwrap().approval, Deny, "{pattern}");
        assert_eq!(set.find_offered_tool("peer_helpdesk").unwrap().approval, Allow, "{pattern}");
        assert!(set.offers_peer_workflow(), "the other workflow is offered");
    }
    assert!(!approval("workflow_*").offers_peer_workflow(), "a denied tool is not offered");
    let spec = AgentSpec { peers: vec!["helpdesk".into()], ..agent(&["*"], &["*"], &[("helpdesk", Ask)]) };
    let set = Toolset::new(&spec, &[workflow("echo")], &peer_tools());
    assert_eq!(set.find_offered_tool("peer_helpdesk").unwrap().approval, Ask);
    assert!(!set.offers_peer_workflow(), "an agent takes messages");
}

#[test]
fn names_that_are_cut_or_clash_keep_a_stable_mark() {
    let all = agent(&["*"], &["*"], &[]);
    // A valid name stays unchanged.
    let clash = named(&all, &["a.b", "a_b"], &["dispatch_workflow_a_b"]);
    assert_eq!(clash.len(), 3);
    assert_eq!(clash[0], "dispatch_workflow_a_b");
    let workflows = ["a.b", "a_b"].map(workflow);
    let set = Toolset::new(&all, &workflows, []);
    assert_eq!(set.find_offered_tool(&clash[0]).unwrap().target, ToolTarget::Workflow("a_b".into()));
    // If no name is valid, all get a suffix, each derived from its own name.
    let marked = named(&all, &["x.y_z", "x_y.z"], &[]);
    assert!(marked.iter().all(|name| name.starts_with("dispatch_workflow_x_y_z_")), "{marked:?}");
    // A name that is cut is the same with and without the others.
    let long = ["w".repeat(64), format!("{}v", "w".repeat(63))];
    let both = named(&all, &[&long[0], &long[1]], &[]);
    assert_eq!(both.len(), 2);
    assert!(both.contains(&named(&all, &[&long[0]], &[])[0]));
    assert!(both.iter().all(|name| name.len() == 64));
    assert_eq!(named(&all, &[], &["weather/get now", "größe"]), ["gr__e", "weather_get_now"]);
}

/// A tool that has a reserved name is offered under another name, and can be called.
#[test]
fn the_name_of_the_tool_that_answers_is_reserved() {
    let all = agent(&["*"], &["*"], &[]);
    let set = Toolset::new(&all, &[], &[tool(REPLY_TOOL), tool("answer.task")]);
    assert!(set.find_offered_tool(REPLY_TOOL).is_err());
    for name in names(&set) {
        assert!(name.starts_with("answer_task_"), "{name}");
        assert!(matches!(&set.find_offered_tool(&name).unwrap().target, ToolTarget::Tool(_)));
    }
    assert_eq!(names(&set).len(), 2);
}

#[test]
fn an_unknown_tool_is_told_with_the_nearest_name() {
    let all = agent(&["*"], &["*"], &[("secret", ToolPermission::Deny)]);
    let set = Toolset::new(&all, &["echo", "invest"].map(workflow), &["files__read", "secret"].map(tool));
    let table = [
        ("echo", r#"There is no tool "echo". Did you mean "dispatch_workflow_echo"?"#),
        (
            "dispatch_workflow_ecko",
            r#"There is no tool "dispatch_workflow_ecko". Did you mean "dispatch_workflow_echo"?"#,
        ),
        ("read", r#"There is no tool "read". Did you mean "files__read"?"#),
        ("disk__read", r#"There is no tool "disk__read". Did you mean "files__read"?"#),
        (
            "weather",
            r#"There is no tool "weather". There are: dispatch_workflow_echo, dispatch_workflow_invest, files__read."#,
        ),
    ];
    for (called, told) in table {
        assert_eq!(set.find_offered_tool(called).unwrap_err().to_string(), told);
    }
    let none = Toolset::default().find_offered_tool("x").unwrap_err();
    assert_eq!(none.to_string(), r#"There is no tool "x". There are no tools."#);
    let many: Vec<ToolInfo> = (0..30).map(|n| tool(&format!("tool_{n:02}"))).collect();
    let told = Toolset::new(&all, [], &many).find_offered_tool("weather").unwrap_err().to_string();
    assert!(told.ends_with("tool_19, …."), "{told}");
}

/// Servers require an object at the root; any other input becomes a property of it.
#[test]
fn schemas_are_objects() {
    let table = [
        (json!({"type": "object", "title": "T"}), json!({"type": "object", "title": "T"}), false),
        (json!({}), json!({"type": "object"}), false),
        (json!(true), json!({"type": "object"}), false),
        (
            json!({"anyOf": [{"type": "object"}]}),
            json!({"anyOf": [{"type": "object"}], "type": "object"}),
            false,
        ),
        (
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}),
            true,
        ),
        (
            json!({"enum": [1]}),
            json!({"type": "object", "properties": {"input": {"enum": [1]}}, "required": ["input"]}),
            true,
        ),
    ];
    for (given, shown, wrapped) in table {
        let info = ProgramInfo { input_schema: given, ..workflow("w") };
        let set = Toolset::new(&agent(&[], &["*"], &[]), [&info], []);
        let offered = set.find_offered_tool("dispatch_workflow_w").unwrap();
        assert_eq!(offered.spec.schema, shown);
        let input = offered.tool_input_from_arguments(json!({"input": "x"}));
        assert_eq!(input, if wrapped { json!("x") } else { json!({"input": "x"}) });
    }
}

#[test]
fn descriptions_are_never_empty_nor_endless() {
    let silent = ToolInfo { description: " ".into(), ..tool("quiet") };
    let long = ToolInfo { description: "ü".repeat(5_000), ..tool("loud") };
    let set = Toolset::new(&agent(&["*"], &[], &[]), [], [&silent, &long]);
    assert_eq!(set.find_offered_tool("quiet").unwrap().spec.description, "Runs quiet.");
    let cut = &set.find_offered_tool("loud").unwrap().spec.description;
    assert_eq!(cut.chars().count(), 1_024);
    assert!(cut.ends_with('…'));
}

proptest! {
    /// For any names: the results are valid and unique, and each leads to its own target.
    #[test]
    fn names_are_usable_and_distinct(
        given in prop::collection::btree_set("[a-b._-]{1,4}|[a-z.]{40,64}|.{1,70}", 1..12),
    ) {
        let tools: Vec<ToolInfo> = given.iter().map(|name| tool(name)).collect();
        let workflows: Vec<ProgramInfo> = given.iter().map(|name| workflow(name)).collect();
        let set = Toolset::new(&agent(&["*"], &["*"], &[]), &workflows, &tools);
        let names = names(&set);
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        for name in &names {
            prop_assert!(!name.is_empty() && name.len() <= 64 && name.chars().all(fits), "{}", name);
        }
        let targets: std::collections::BTreeSet<_> =
            names.iter().map(|name| set.find_offered_tool(name).unwrap().target.clone()).collect();
        prop_assert_eq!(targets.len(), given.len() * 2);
    }
}
