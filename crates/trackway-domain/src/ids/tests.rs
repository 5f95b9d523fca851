//! Ids print with their prefix, read back, and refuse anything else.

use super::*;

#[test]
fn a_made_id_prints_its_prefix_and_reads_back() {
    let id = RunId::new(Uuid::from_u128(7));
    assert_eq!(id.to_string(), "run_00000000000000000000000000000007");
    assert_eq!(id.to_string().parse::<RunId>().unwrap(), id);
    assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{id}\""));
}

#[test]
fn a_made_id_refuses_every_other_form() {
    for text in [
        "",
        "run_",
        "run_7",
        "qst_00000000000000000000000000000007",
        "RUN_00000000000000000000000000000007",
        "run_0000000000000000000000000000000G",
        "run_0000000000000000000000000000000A",
        "run_000000000000000000000000000000007",
    ] {
        assert!(text.parse::<RunId>().is_err(), "{text:?} must not be a run id");
    }
}

#[test]
fn a_chosen_id_is_printable_and_bounded() {
    assert!(SessionId::new("ctx-1").is_ok());
    assert!(SessionId::new("").is_err());
    assert!(SessionId::new("a\nb").is_err());
    assert!(SessionId::new(&"x".repeat(257)).is_err());
    assert!(serde_json::from_str::<SessionId>("\"\"").is_err());
}
