//! Contracts of whole phases: what one phase of the work hands to the next.

use serde_json::{Value, json};

use super::{object, one_of, text, texts};

pub(super) fn coding() -> (Value, Value) {
    let corrected = object(&["assumed", "actual"], &json!({ "assumed": text(), "actual": text() }));
    let properties = json!({
        "version": { "const": 1 },
        "branchName": text(),
        "keyDecisions": texts(8),
        "knownLimitations": texts(6),
        "testsAdded": texts(10),
        "filesChanged": texts(20),
        "correctedAssumptions": { "type": "array", "items": corrected, "maxItems": 6 },
    });
    let example = json!({
        "version": 1,
        "keyDecisions": ["Totals are kept in cents"],
        "knownLimitations": [],
        "testsAdded": ["totals::round_half_up"],
        "filesChanged": ["src/totals.rs"],
    });
    let required = ["version", "keyDecisions", "knownLimitations", "testsAdded", "filesChanged"];
    (object(&required, &properties), example)
}

pub(super) fn discovery() -> (Value, Value) {
    let rejected =
        object(&["direction", "reason"], &json!({ "direction": text(), "reason": text() }));
    let location = object(&["path", "relevance"], &json!({ "path": text(), "relevance": text() }));
    let tiers = ["strong_recommendation", "provisional_recommendation", "insufficient_signal"];
    let properties = json!({
        "version": { "const": 1 },
        "selectedDirection": text(),
        "designDocPath": { "type": "string" },
        "confidenceBand": one_of(&["high", "medium", "low"]),
        "keyInvariants": texts(12),
        "rejectedDirections": { "type": "array", "items": rejected, "maxItems": 5 },
        "implementationConstraints": texts(8),
        "keyCodebaseLocations": { "type": "array", "items": location, "maxItems": 10 },
        "selectionTier": one_of(&tiers),
    });
    let example = json!({
        "version": 1,
        "selectedDirection": "Keep one log and derive every view from it",
        "designDocPath": "docs/design/log.md",
        "confidenceBand": "medium",
        "keyInvariants": ["Nothing is ever overwritten"],
    });
    let required =
        ["version", "selectedDirection", "designDocPath", "confidenceBand", "keyInvariants"];
    (object(&required, &properties), example)
}

pub(super) fn shaping() -> (Value, Value) {
    let properties = json!({
        "version": { "const": 1 },
        "pitchPath": text(),
        "selectedShape": text(),
        "appetite": text(),
        "keyConstraints": texts(8),
        "rabbitHoles": texts(6),
        "outOfScope": texts(6),
        "validationChecklist": texts(10),
    });
    let example = json!({
        "version": 1,
        "pitchPath": "docs/pitch.md",
        "selectedShape": "A list that can be filtered",
        "appetite": "two days",
        "keyConstraints": [],
        "rabbitHoles": [],
        "outOfScope": ["Sorting"],
        "validationChecklist": ["A filter survives a reload"],
    });
    let required = [
        "version",
        "pitchPath",
        "selectedShape",
        "appetite",
        "keyConstraints",
        "rabbitHoles",
        "outOfScope",
        "validationChecklist",
    ];
    (object(&required, &properties), example)
}

pub(super) fn differentiation() -> (Value, Value) {
    let moment = json!({ "type": "string", "minLength": 1 });
    let freshness = object(
        &["oldestCapturedAt", "newestCapturedAt"],
        &json!({ "oldestCapturedAt": moment, "newestCapturedAt": moment }),
    );
    let properties = json!({
        "version": { "const": 1 },
        "schemaVersion": { "const": "1.0.0" },
        "generatedAt": moment,
        "evidenceFreshness": freshness,
        "validationChecklist": texts(10),
        "shapingHandoff": idea(),
    });
    let example = json!({
        "version": 1,
        "schemaVersion": "1.0.0",
        "generatedAt": "2026-01-05T09:00:00Z",
        "evidenceFreshness": {
            "oldestCapturedAt": "2026-01-02T09:00:00Z",
            "newestCapturedAt": "2026-01-04T09:00:00Z",
        },
        "validationChecklist": ["Three users were asked"],
        "shapingHandoff": {
            "rawIdea": "Receipts that sort themselves",
            "problem": "At the end of a month nobody finds a receipt",
            "baseline": "A shoe box",
            "appetiteHint": "small_batch",
            "noGosHints": ["No bookkeeping"],
            "constraints": { "teamSize": 2, "technicalCapabilities": ["Text recognition"] },
            "evidenceTopK": [],
            "defensibilityClaim": { "power": "Switching Costs", "cannibalization": "none" },
        },
    });
    let required = [
        "version",
        "schemaVersion",
        "generatedAt",
        "evidenceFreshness",
        "validationChecklist",
        "shapingHandoff",
    ];
    (object(&required, &properties), example)
}

/// The idea that goes on to be shaped.
fn idea() -> Value {
    let powers = [
        "Counter-Positioning",
        "Switching Costs",
        "Network Economies",
        "Scale Economies",
        "Cornered Resource",
        "Process Power",
        "Branding",
        "None_Imitable",
    ];
    let any_texts = json!({ "type": "array", "items": { "type": "string" } });
    let constraints = object(
        &["teamSize", "technicalCapabilities"],
        &json!({
            "teamSize": { "type": "integer", "minimum": 1 },
            "technicalCapabilities": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            "exclusions": any_texts,
        }),
    );
    let claim = object(
        &["power", "cannibalization"],
        &json!({ "power": one_of(&powers), "cannibalization": { "type": "string" } }),
    );
    let properties = json!({
        "rawIdea": text(),
        "problem": text(),
        "baseline": text(),
        "appetiteHint": one_of(&["small_batch", "big_batch"]),
        "noGosHints": any_texts,
        "constraints": constraints,
        "evidenceTopK": { "type": "array", "items": { "type": "string" }, "maxItems": 10 },
        "defensibilityClaim": claim,
    });
    let required = [
        "rawIdea",
        "problem",
        "baseline",
        "appetiteHint",
        "noGosHints",
        "constraints",
        "evidenceTopK",
        "defensibilityClaim",
    ];
    object(&required, &properties)
}
