//! Names that are accepted, replaced or refused, and references as messages carry them.

use serde_json::json;

use super::*;

/// Proves I10: a name is a plain filename, so it never leads out of a folder.
#[test]
fn filenames_are_plain() {
    for good in
        ["a", "report 1.pdf", "r\u{e9}sum\u{e9}.txt", "...", ".hidden", "\u{1f980}.png", &"x".repeat(255)]
    {
        assert_eq!(ArtifactFilename::new(good).unwrap().as_str(), good);
        let read: ArtifactFilename = serde_json::from_value(json!(good)).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), json!(good));
    }
    assert_eq!(ArtifactFilename::new("  a b\t").unwrap().as_str(), "a b");
    let long = "\u{e9}".repeat(128);
    let bad =
        ["", " ", ".", "..", " .. ", "a/b", "/etc/passwd", "..\\x", "a\0b", "a\nb", "a\u{202e}b", &long];
    for bad in bad {
        let refused = ArtifactFilename::new(bad).unwrap_err();
        assert!(refused.to_string().contains("is not a valid artifact filename"), "{refused}");
        assert!(serde_json::from_value::<ArtifactFilename>(json!(bad)).is_err(), "{bad:?}");
    }
}

#[test]
fn any_text_becomes_a_filename() {
    let table = [
        ("out.json", "out.json"),
        (" out ", "out"),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("C:\\x\ty", "C:_x_y"),
        ("..", "artifact"),
        ("", "artifact"),
        (" \n ", "artifact"),
    ];
    for (text, expected) in table {
        let name = ArtifactFilename::from_text_lossy(text);
        assert_eq!(name.as_str(), expected);
        assert_eq!(ArtifactFilename::new(name.as_str()), Ok(name));
    }
    let long = ArtifactFilename::from_text_lossy(&"\u{e9}".repeat(200));
    assert_eq!(long.as_str().len(), 254, "it is cut between two letters");
    assert_eq!(ArtifactFilename::new(long.as_str()), Ok(long));
}

#[test]
fn extensions_follow_the_last_dot() {
    let table = [("a.CSV", Some("csv")), ("a.tar.gz", Some("gz")), ("a", None), (".env", None), ("a.", None)];
    for (name, expected) in table {
        assert_eq!(ArtifactFilename::new(name).unwrap().extension().as_deref(), expected, "{name}");
    }
}

/// Proves I7: the reference of a message, with versions as every language writes them.
#[test]
fn references_are_read_strictly() {
    let read = |value| serde_json::from_value::<ArtifactReference>(value);
    let filename = ArtifactFilename::new("data.csv").unwrap();
    let table = [
        (json!({"filename": "data.csv"}), None),
        (json!({"filename": "data.csv", "version": null}), None),
        (json!({"filename": "data.csv", "version": 2}), Some(2)),
        (json!({"filename": "data.csv", "version": 2.0}), Some(2)),
        (json!({"filename": "data.csv", "version": u32::MAX}), Some(u32::MAX)),
    ];
    for (value, version) in table {
        let reference = ArtifactReference { filename: filename.clone(), version };
        assert_eq!(read(value).unwrap(), reference);
        assert_eq!(read(serde_json::to_value(&reference).unwrap()).unwrap(), reference);
    }
    let bad = [
        json!({}),
        json!({"filename": "a/b"}),
        json!({"filename": 7}),
        json!({"filename": "a", "version": -1}),
        json!({"filename": "a", "version": 1.5}),
        json!({"filename": "a", "version": "latest"}),
        json!({"filename": "a", "version": 4_294_967_296_u64}),
        json!({"filename": "a", "version": 1e300}),
        json!({"filename": "a", "tenant": "umbrella"}),
        json!("a"),
    ];
    for value in bad {
        assert!(read(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn scopes_have_names() {
    for kind in ArtifactScopeKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
    }
    assert!("Tenant".parse::<ArtifactScopeKind>().is_err());
    assert_eq!(ArtifactScope::Tenant.kind(), ArtifactScopeKind::Tenant);
}
