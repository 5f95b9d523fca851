//! What calls give.

use serde_json::json;
use trackway_domain::{Content, FileSource};

use crate::kit::{call, entry, names, start};

#[tokio::test]
async fn results_arrive_with_everything_that_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let servers = start(&json!({"my server": entry(&json!({}))}), folder.path()).await;
    assert!(names(&servers).contains(&"my_server__look_at_it".to_owned()));
    let odd = call(&servers, "my_server__look_at_it", json!({})).await.unwrap();
    assert_eq!(odd.value, "look.at it was called");
    let both = call(&servers, "my_server__both", json!({})).await.unwrap();
    assert_eq!(both.value, json!({"n": 1}));
    let picture = call(&servers, "my_server__picture", json!({})).await.unwrap();
    let Content::File(image) = &picture.parts[1].content else { panic!("it is not a file") };
    assert_eq!(image.source, FileSource::Base64("aGk=".to_owned()));
    let failure = call(&servers, "my_server__fail", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "no such thing");
    servers.shutdown().await;
}

/// Nobody is sent to an address that a server chose.
#[tokio::test]
async fn a_question_by_address_is_declined() {
    let folder = tempfile::tempdir().unwrap();
    let servers = start(&json!({"one": entry(&json!({}))}), folder.path()).await;
    let answer = call(&servers, "one__open", json!({})).await;
    match answer {
        Ok(output) => assert!(output.value.as_str().unwrap().contains("decline"), "{output:?}"),
        Err(failure) => panic!("{failure:?}"),
    }
    servers.shutdown().await;
}
