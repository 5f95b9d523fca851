//! The example of the guide, so that it compiles and does what the guide says.

use trackway_a2a_client::{
    AddressedMessage, Client, ClientError, MessageId, Options, Part, SendOptions, TaskUpdate,
};

use super::{options, test_server::TestServer};

async fn ask(url: &str, options: Options) -> Result<String, ClientError> {
    let client = Client::discover(url, options).await?;
    let id = MessageId::new("order-17").expect("a short text");
    let message = AddressedMessage::from_user(id, vec![Part::text("hello")]);
    let mut updates = client.stream_message(&message, &SendOptions::default()).await?;
    let mut said = String::new();
    while let Some(update) = updates.next().await? {
        match update {
            TaskUpdate::Artifact(update) => {
                said.extend(update.chunk.artifact.parts.iter().filter_map(Part::as_text));
            }
            TaskUpdate::Status(update) if update.status.state.is_interrupted() => {
                said.push('?'); // Answer with `AddressedMessage::addressed_to_task(update.task)`.
            }
            TaskUpdate::Task(_) | TaskUpdate::Status(_) | TaskUpdate::Message(_) => {}
        }
    }
    Ok(said)
}

#[tokio::test]
async fn the_example_of_the_guide_works_and_is_the_one_in_the_guide() {
    let door = TestServer::open().await;
    assert_eq!(ask(&door.url(), options()).await.unwrap(), "hello");
    let guide = include_str!("../../../../docs/a2a.md");
    let source = include_str!("example.rs");
    let function = source.split("async fn ask").nth(1).unwrap().split("\n}\n").next().unwrap();
    assert!(guide.contains(&format!("async fn ask{function}\n}}\n")), "copy `ask` into the guide");
}
