//! Signatures, verified with the public key only.

use jsonwebtoken::{DecodingKey, crypto::verify};
use trackway_runtime::{ProgramInfo, ProgramKind};

use super::*;
use crate::{
    agent_card::{AgentCard, AgentInterface, ProtocolBinding},
    multi_version_card,
    protocol_version::ProtocolVersion,
    wire::v1,
};

/// Created for these tests and used nowhere else.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/8fsbtXtCt3Mf4LN
4v4mXX5awvGoHhE2Ws28exC/8P+hRANCAARGmYEYx1l8i5y3ONc18z8K7RWT/dsZ
/EBNt7lfdmnPJFdb7zNDJh09ji+I3xhhPel0sQJorbvoKIkktuMbuiJh
-----END PRIVATE KEY-----
";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERpmBGMdZfIuctzjXNfM/Cu0Vk/3b
GfxATbe5X3ZpzyRXW+8zQyYdPY4viN8YYT3pdLECaK276CiJJLbjG7oiYQ==
-----END PUBLIC KEY-----
";
/// A key of another curve.
const P384: &str = "-----BEGIN PRIVATE KEY-----
MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAvhDVHahmghVqfcB0Z
oZv5VeaoRsHoWwG4THNB5dcsRuVPhfqZ76M8QNlHYlMtCgahZANiAATdCdQ3bdQX
8wLBoWh1ThfVGLXjrBm+U98f0ab2gsyKJxjKAjWq2HGrvIFtnpiSfSGTJDiMrKgk
4ceIpTt7wSF9rl2kCf7IRXo7sdMI9LcMy3OP21EOtOLguEqrsQoQsPc=
-----END PRIVATE KEY-----
";

fn info() -> ProgramInfo {
    ProgramInfo {
        name: "echo".into(),
        kind: ProgramKind::Workflow,
        version: "1".into(),
        description: "Says it again.".into(),
        tags: vec![],
        examples: vec![],
        skills: Vec::new(),
        input_schema: json!({"type": "object"}),
        output_schema: Value::Null,
        input_modes: vec!["text/plain".into()],
        output_modes: vec!["text/plain".into()],
        extensions: vec![],
        deadline: None,
    }
}

fn interfaces() -> Vec<AgentInterface> {
    let known = |generation| AgentInterface {
        url: "https://a.example".to_owned(),
        binding: ProtocolBinding::JsonRpc,
        generation,
        tenant: None,
    };
    ProtocolVersion::ALL.map(known).into()
}

/// Whether the signature covers exactly this payload.
fn holds(signature: &Value, payload: &[u8]) -> bool {
    let protected = signature["protected"].as_str().unwrap();
    let signed = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload));
    let key = DecodingKey::from_ec_pem(PUBLIC.as_bytes()).unwrap();
    let signature = signature["signature"].as_str().unwrap();
    verify(signature, signed.as_bytes(), &key, Algorithm::ES256).unwrap()
}

fn signer() -> CardSigner {
    CardSigner::from_pem(PRIVATE.as_bytes(), "key-1").unwrap()
}

/// Proves X6: a client can verify the author of a card with the canonical form of its 1.0 members, even
/// if it received the card of both generations.
#[test]
fn the_card_of_both_generations_is_signed_as_the_one_of_1_0() {
    let info = info();
    let card = AgentCard::new(&info, interfaces());
    let plain = v1::render_card_json(&card);
    let signer = signer();
    for mut signed in [
        multi_version_card::with_card_signatures(plain.clone(), Some(&signer)),
        multi_version_card::render_multi_version_card(&card, Some(&signer)),
    ] {
        let signature = signed["signatures"][0].take();
        assert!(holds(&signature, &canonical_json(&plain)));
        let mut other = plain.clone();
        other["name"] = json!("somebody else");
        assert!(!holds(&signature, &canonical_json(&other)));
    }
    let text = String::from_utf8(canonical_json(&plain)).unwrap();
    for of_0_3 in [
        "preferredTransport",
        "additionalInterfaces",
        "stateTransitionHistory",
        "\"url\":\"https://a.example\",\"version\"",
    ] {
        assert!(!text.contains(of_0_3), "{of_0_3} is not signed: {text}");
    }
    assert!(text.starts_with("{\"capabilities\":{\"extendedAgentCard\":"), "names are sorted: {text}");
}

#[test]
fn header_names_the_key_and_signing_is_deterministic() {
    let card = json!({"name": "a"});
    let signatures = signer().sign_card(&card);
    assert_eq!(signatures.len(), 1, "nothing in it is empty");
    let header = URL_SAFE_NO_PAD.decode(signatures[0]["protected"].as_str().unwrap()).unwrap();
    assert_eq!(header, br#"{"alg":"ES256","kid":"key-1","typ":"JOSE"}"#);
    assert_eq!(signer().sign_card(&card), signatures, "the same card has the same tag");
    assert_eq!(
        multi_version_card::with_card_signatures(card.clone(), None),
        card,
        "without a key there is no signature"
    );
}

/// Proves X6: a client that removes empty values before it verifies also finds a signature.
#[test]
fn a_card_with_empty_values_is_signed_in_both_forms() {
    let card = json!({"a": {"required": [], "properties": {}}, "b": [{}, "", 1], "c": null, "d": false});
    let signatures = signer().sign_card(&card);
    assert_eq!(signatures.len(), 2);
    assert!(holds(&signatures[0], &canonical_json(&card)));
    assert!(holds(&signatures[1], br#"{"b":[1],"d":false}"#));
}

/// Proves X5.
#[test]
fn other_keys_are_refused_at_load() {
    for wrong in ["", "not a key", PUBLIC, P384] {
        assert!(CardSigner::from_pem(wrong.as_bytes(), "k").is_err(), "{wrong}");
    }
    assert_eq!(format!("{:?}", signer()), "Signer { key_id: \"key-1\", .. }");
}
