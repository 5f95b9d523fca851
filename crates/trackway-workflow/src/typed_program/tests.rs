//! The schemas of Rust types, and values that are refused although a schema allows them.

use std::{
    net::{IpAddr, Ipv4Addr},
    num::{NonZeroI16, NonZeroU8, NonZeroU64},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use trackway_engine::SchemaChecker;
use trackway_runtime::SchemaCache;

use super::*;

/// Whether the published schema allows the value, and whether the type can hold it.
fn judge<T: DeserializeOwned + JsonSchema>(value: &Value) -> (bool, bool) {
    let allowed = SchemaCache::default().check_against_schema(&json_schema_of::<T>(), value).is_empty();
    (allowed, ValueType::for_type::<T>().check_value(value).is_empty())
}

/// The schema allows exactly the values of the type, at its bounds and one beyond.
fn agree<T: DeserializeOwned + JsonSchema>(good: &[Value], bad: &[Value]) {
    let name = std::any::type_name::<T>();
    for value in good {
        assert_eq!(judge::<T>(value), (true, true), "{name}: {value}");
    }
    for value in bad {
        assert_eq!(judge::<T>(value), (false, false), "{name}: {value}");
    }
}

/// Proves L14: a published schema contains the bounds of the type.
#[test]
fn published_schemas_say_the_bounds_of_the_type() {
    let beyond_u64 = json!(18_446_744_073_709_551_616.0);
    agree::<u8>(&[json!(0), json!(u8::MAX)], &[json!(-1), json!(256), json!(2.5)]);
    agree::<u16>(&[json!(0), json!(u16::MAX)], &[json!(-1), json!(65_536)]);
    agree::<u32>(&[json!(0), json!(u32::MAX)], &[json!(-1), json!(5_000_000_000_u64)]);
    agree::<u64>(&[json!(0), json!(u64::MAX)], &[json!(-1), beyond_u64.clone()]);
    agree::<usize>(&[json!(0), json!(usize::MAX)], &[json!(-1), beyond_u64.clone()]);
    agree::<i8>(&[json!(i8::MIN), json!(i8::MAX)], &[json!(-129), json!(128)]);
    agree::<i32>(&[json!(i32::MIN), json!(i32::MAX)], &[json!(-3e9), json!(3_000_000_000_u64)]);
    agree::<i64>(&[json!(i64::MIN), json!(i64::MAX)], &[json!(u64::MAX), json!(-1e30)]);
    agree::<u128>(&[json!(0), json!(u64::MAX)], &[json!(-1), beyond_u64]);
    agree::<NonZeroU8>(&[json!(1), json!(255)], &[json!(0), json!(256)]);
    agree::<NonZeroU64>(&[json!(1), json!(u64::MAX)], &[json!(0)]);
    agree::<NonZeroI16>(&[json!(-1), json!(1)], &[json!(0), json!(40_000)]);
    agree::<char>(&[json!("é")], &[json!(""), json!("ab")]);
    agree::<Ipv4Addr>(&[json!("127.0.0.1")], &[json!("home"), json!("256.0.0.1")]);
    agree::<Option<u32>>(&[json!(null), json!(7)], &[json!(5_000_000_000_u64)]);
    agree::<Vec<u32>>(&[json!([1])], &[json!([1, -1])]);
    assert!(!judge::<f32>(&json!(1e39)).0, "what would be read as infinite is not allowed");
    assert_eq!(judge::<f64>(&json!(1e300)), (true, true));
}

/// Proves L14: also if no schema can express it, as for addresses of either kind.
#[test]
fn what_a_schema_cannot_say_is_found_by_reading() {
    assert_eq!(judge::<IpAddr>(&json!("home")), (true, false));
}

/// Bounds of the author are kept, and fields at every depth have bounds.
#[test]
fn bounds_stand_at_every_depth_and_give_way_to_the_authors_own() {
    #[derive(serde::Deserialize, Serialize, JsonSchema)]
    struct Order {
        #[schemars(range(min = 1, max = 9))]
        count: u32,
        lines: Vec<Line>,
    }
    #[derive(serde::Deserialize, Serialize, JsonSchema)]
    struct Line {
        cents: Option<i32>,
    }
    let properties = json_schema_of::<Order>()["properties"].clone();
    assert_eq!(properties["count"]["minimum"], json!(1));
    assert_eq!(properties["count"]["maximum"], json!(9));
    let cents = &properties["lines"]["items"]["properties"]["cents"];
    assert_eq!((&cents["minimum"], &cents["maximum"]), (&json!(i32::MIN), &json!(i32::MAX)));
}
