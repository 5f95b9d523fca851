//! Call chains: their growth, their limits, and their stored form.

use serde_json::json;

use super::*;

#[test]
fn a_chain_grows_with_every_call_and_knows_its_ancestors() {
    let first = CallChain::default().extend("http://a/");
    let second = first.extend("http://b/");
    assert_eq!(second, CallChain { depth: 2, ancestors: vec!["http://a/".into(), "http://b/".into()] });
    assert!(second.contains("http://a/") && second.contains("http://b/"));
    assert!(!second.contains("http://b") && !second.contains(""));
    assert!(CallChain::default().is_empty() && !first.is_empty());
}

/// Beyond the limit, and back into an ancestor.
#[test]
fn a_call_too_deep_or_back_into_an_ancestor_is_refused() {
    let chain = (0..3).fold(CallChain::default(), |chain, index| chain.extend(&format!("http://{index}/")));
    assert_eq!(chain.check_depth(3), Ok(()));
    assert_eq!(chain.check_depth(2), Err(CallChainRefusal::TooDeep { depth: 3, max: 2 }));
    assert_eq!(chain.check_not_ancestor("http://9/"), Ok(()));
    let back = chain.check_not_ancestor("http://1/").unwrap_err();
    assert_eq!(back, CallChainRefusal::CallsAncestor { address: "http://1/".into() });
}

#[test]
fn a_chain_from_outside_is_bounded_and_counts_at_least_its_ancestors() {
    let many = vec!["http://a/".to_owned(); CALL_CHAIN_ANCESTORS_MAX + 1];
    assert!(matches!(CallChain::new(1, many), Err(CallChainRefusal::TooManyAncestors { count: 65, .. })));
    let long = vec!["a".repeat(10_000_000)];
    assert!(
        matches!(CallChain::new(1, long), Err(CallChainRefusal::AncestorTooLong { bytes, .. }) if bytes == 10_000_000)
    );
    assert_eq!(CallChain::new(0, vec!["a".into(), "b".into()]).unwrap().depth, 2);
    assert_eq!(CallChain::new(7, Vec::new()).unwrap().depth, 7);
}

#[test]
fn a_chain_stays_bounded_however_often_it_grows() {
    let long = "ü".repeat(CALL_CHAIN_ADDRESS_BYTES_MAX);
    let chain = (0..200).fold(CallChain::default(), |chain, _| chain.extend(&long));
    assert_eq!((chain.depth, chain.ancestors.len()), (200, CALL_CHAIN_ANCESTORS_MAX));
    assert!(chain.ancestors.iter().all(|address| address.len() <= CALL_CHAIN_ADDRESS_BYTES_MAX));
    assert!(chain.contains(&long));
    let end = CallChain { depth: u32::MAX, ancestors: Vec::new() };
    assert_eq!(end.extend("a").depth, u32::MAX);
}

#[test]
fn a_chain_is_stored_as_depth_and_ancestors() {
    let chain = CallChain::default().extend("http://a/");
    assert_eq!(serde_json::to_value(&chain).unwrap(), json!({"depth": 1, "ancestors": ["http://a/"]}));
    let shallow: CallChain = serde_json::from_value(json!({"depth": 1})).unwrap();
    assert_eq!(shallow, CallChain { depth: 1, ancestors: Vec::new() });
}
