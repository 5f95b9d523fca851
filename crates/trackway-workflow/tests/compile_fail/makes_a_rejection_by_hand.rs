//! How a workflow stops is made by `reject`, `Stop::failed` or `?`, not put together.

fn main() {
    let _ = trackway_workflow::Stop::Rejected("the market is closed".to_owned());
}
