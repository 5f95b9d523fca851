//! `time_now`: what time it is. A model does not know.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Failure, Timestamp};
use trackway_ports::Clock;
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput};

#[derive(Debug)]
pub(super) struct TimeNow {
    info: ToolInfo,
    clock: Arc<dyn Clock>,
}

impl TimeNow {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let info = ToolInfo {
            name: "time_now".to_owned(),
            description: "The current date and time in UTC, with the day of the week.".to_owned(),
            input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        };
        Self { info, clock }
    }
}

impl Tool for TimeNow {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, _: Value, _: ToolCall) -> ToolFuture {
        let told = tell(self.clock.now());
        Box::pin(std::future::ready(told.map(ToolOutput::from)))
    }
}

fn tell(now: Timestamp) -> Result<Value, Failure> {
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
        let told = tell(Timestamp(1_000)).unwrap();
        assert_eq!(told["now"], "1970-01-01T00:00:01Z");
        assert_eq!(told["weekday"], "Thursday");
        assert!(tell(Timestamp(i64::MAX)).is_err());
    }
}
