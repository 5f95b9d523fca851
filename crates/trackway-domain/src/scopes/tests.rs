//! Which scopes exist, and what each permits.

use super::*;

/// Proves X6.
#[test]
fn scopes_permit_what_their_pattern_covers_and_nothing_else() {
    let table: &[(&[&str], &str, bool)] = &[
        (&["*"], "workflow:echo:run", true),
        (&["*"], "agent:echo:call", true),
        (&["workflow:echo:run"], "workflow:echo:run", true),
        (&["workflow:echo:run"], "workflow:echo2:run", false),
        (&["workflow:echo:run"], "workflow:ech:run", false),
        (&["workflow:echo:run"], "agent:echo:call", false),
        (&["workflow:e*:run"], "workflow:echo:run", true),
        (&["workflow:e*:run"], "workflow:review:run", false),
        (&["workflow:*-eu:run"], "workflow:order-eu:run", true),
        (&["workflow:*-eu:run"], "workflow:order-eu-2:run", false),
        (&["workflow:a*b*c:run"], "workflow:a-b-b-c:run", true),
        (&["workflow:a*b*c:run"], "workflow:a-c-b:run", false),
        (&["workflow:*"], "workflow:echo:run", true),
        (&["workflow:*"], "agent:echo:call", false),
        (&["agent:*:*"], "agent:echo:call", true),
        (&["workflow:team.secret:run"], "workflow:team.secret:run", true),
        (&["workflow:team.secret:run"], "workflow:team-secret:run", false),
        (&["workflow:team.*:run"], "workflow:teams:run", false),
        (&["agent:echo:call", "workflow:review:run"], "workflow:review:run", true),
        (&[], "workflow:echo:run", false),
        (&["*"], "artifact:read", true),
        (&["*"], "peer:admin", true),
        (&["*"], "audit:read", true),
        (&["artifact:read"], "artifact:read", true),
        (&["artifact:read"], "artifact:write", false),
        (&["artifact:*"], "artifact:write", true),
        (&["artifact:*"], "audit:read", false),
        (&["workflow:*", "agent:*", "tenant"], "artifact:read", false),
        (&["peer:admin"], "peer:admin", true),
        (&["audit:read"], "peer:admin", false),
    ];
    for (scopes, permission, expected) in table {
        let scopes = Scopes::new(*scopes).unwrap();
        assert_eq!(scopes.allows_permission(permission), *expected, "{scopes:?} {permission}");
    }
}

/// Proves X6.
#[test]
fn a_workflow_may_be_run_by_either_of_its_names() {
    for (scope, expected) in [
        ("*", true),
        ("workflow:echo:run", true),
        ("agent:echo:call", true),
        ("agent:e*:call", true),
        ("agent:review:call", false),
        ("workflow:review:run", false),
    ] {
        assert_eq!(Scopes::new([scope]).unwrap().allows_workflow_run("echo"), expected, "{scope}");
    }
}

/// Proves X6.
#[test]
fn malformed_scopes_are_refused() {
    let long = format!("workflow:{}:run", "a".repeat(200));
    for text in [
        "",
        "echo",
        "**",
        "workflow",
        "workflow:echo",
        "workflow:echo:call",
        "agent:echo:run",
        "workflow::run",
        "workflow:a b:run",
        "workflow:echo:run ",
        "Workflow:echo:run",
        "workflow:echo:run:more",
        "tool:echo:run",
        "*:echo:run",
        "artifact",
        "artifact:",
        "artifact:delete",
        "artifact:report.csv:read",
        "peer:read",
        "audit:write",
        "audit:r*",
        "Audit:read",
        &long,
    ] {
        let error = Scopes::new([text]).unwrap_err();
        assert!(error.to_string().contains("workflow:<name>:run"), "{error}");
    }
    assert!(Scopes::new(["*"; 257]).is_err());
}

#[test]
fn scopes_of_other_services_permit_nothing() {
    let (scopes, bad) = Scopes::parse_scopes_leniently("openid profile workflow:echo:run email".split(' '));
    assert_eq!((scopes, bad.len()), (Scopes::new(["workflow:echo:run"]).unwrap(), 0));
    assert!(Scopes::parse_scopes_leniently(["openid"]).0.has_no_scopes());
}

/// Proves X6: a Trackway scope that permits nothing is reported.
#[test]
fn malformed_scopes_of_a_known_kind_are_reported() {
    let (scopes, bad) =
        Scopes::parse_scopes_leniently(["workflow:echo", "agent:a b:call", "agents", "api:read"]);
    assert!(scopes.has_no_scopes());
    assert_eq!(bad.iter().map(|bad| &*bad.text).collect::<Vec<_>>(), ["workflow:echo", "agent:a b:call"]);
}

/// Proves X6: each action has a scope of its own, and `*` covers every action.
#[test]
fn each_action_needs_its_own_scope() {
    let actions = [
        (Permission::RunWorkflow("echo"), "workflow:echo:run"),
        (Permission::ReadArtifacts, "artifact:read"),
        (Permission::WriteArtifacts, "artifact:write"),
        (Permission::AdministerPeers, "peer:admin"),
        (Permission::ReadAudit, "audit:read"),
        (Permission::SeeAllTenants, "*"),
    ];
    for (action, own_scope) in actions {
        for (_, scope) in actions {
            let allowed = Scopes::new([scope]).unwrap().allows_action(&action);
            assert_eq!(allowed, scope == own_scope || scope == "*", "{scope} for {action}");
        }
        assert!(!Scopes::new(["tenant"]).unwrap().allows_action(&action), "{action}");
        assert!(!Scopes::default().allows_action(&action), "{action}");
        assert!(action.needed_scope().contains(own_scope), "{action}");
    }
    assert!(!Scopes::new(["*"]).unwrap().allows_tenant_wide_access());
}

/// The worst pattern costs the product of the lengths, not a power of them.
#[test]
fn matching_many_stars_is_fast() {
    let pattern = format!("workflow:{}b:run", "a*".repeat(50));
    let scopes = Scopes::new([pattern]).unwrap();
    assert!(!scopes.allows_permission(&format!("workflow:{}:run", "a".repeat(100_000))));
}
