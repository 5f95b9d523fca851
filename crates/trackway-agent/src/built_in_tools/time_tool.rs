//! `time_now`: the current time, which a model does not know.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Failure, Timestamp};
use trackway_ports::Clock;
use trackway_runtime::{Tool, ToolOutput};

use super::tool_from_function;

pub(super) fn time_now_tool(clock: Arc<dyn Clock>) -> Arc<dyn Tool> {
    let description = "The current date and time in UTC, with the day of the week.";
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    tool_from_function("time_now", description, schema, move |_, _| {
        Box::pin(std::future::ready(render_current_time(clock.now()).map(ToolOutput::from)))
    })
}

fn render_current_time(now: Timestamp) -> Result<Value, Failure> {
    let moment = jiff::Timestamp::from_millisecond(now.0)
        .map_err(|_| Failure::new("the clock of this machine is far off"))?;
    let utc = moment.to_zoned(jiff::tz::TimeZone::UTC);
    Ok(json!({
        "now": moment.to_string(),
        "weekday": utc.strftime("%A").to_string(),
        "unixMilliseconds": now.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_in_words_that_models_know() {
        let told = render_current_time(Timestamp(1_000)).unwrap();
        assert_eq!(told["now"], "1970-01-01T00:00:01Z");
        assert_eq!(told["weekday"], "Thursday");
        assert!(render_current_time(Timestamp(i64::MAX)).is_err());
    }
}
