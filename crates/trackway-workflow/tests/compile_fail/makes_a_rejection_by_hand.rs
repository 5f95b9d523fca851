//! Workflows stop with `reject`, `Stop::failed` or `?`; they cannot construct a `Stop` directly.

fn main() {
    let _ = trackway_workflow::Stop::Rejected("the market is closed".to_owned());
}
