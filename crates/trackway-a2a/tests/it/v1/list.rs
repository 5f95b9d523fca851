//! Lists of tasks in 1.0.

use serde_json::{Value, json};

use super::bindings::{TestBinding, V1, WAYS, data_answer, short_state, text_message};
use crate::test_server::TestServer;

fn ids(page: &Value) -> Vec<&str> {
    page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

async fn page(site: &TestServer, way: TestBinding, params: Value) -> Value {
    site.call_v1(way, "ListTasks", &params).await.unwrap()
}

/// Proves L18: the newest status comes first, and every task on exactly one page.
#[tokio::test]
async fn pages_hold_every_task_once_the_newest_first() {
    for way in WAYS {
        let site = TestServer::new();
        for number in 0..7 {
            site.start_v1_task(way, &format!("m-{number}"), "hello").await;
        }
        let all = page(&site, way, json!({})).await;
        assert_eq!((&all["totalSize"], &all["pageSize"]), (&json!(7), &json!(50)));
        assert_eq!(all["nextPageToken"], "");
        let times: Vec<_> = all["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["status"]["timestamp"].as_str().unwrap())
            .collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        let mut seen: Vec<String> = Vec::new();
        let mut token = json!("");
        for round in 0..4 {
            let part = page(&site, way, json!({"pageSize": 2, "pageToken": token})).await;
            assert_eq!((&part["totalSize"], &part["pageSize"]), (&json!(7), &json!(2)));
            seen.extend(ids(&part).into_iter().map(str::to_owned));
            token = part["nextPageToken"].clone();
            assert_eq!(token == "", round == 3, "{way:?}");
        }
        assert_eq!(seen, ids(&all), "{way:?}: no gap and no repetition");
        let sized = page(&site, way, json!({"pageSize": 7})).await;
        assert_eq!((ids(&sized).len(), &sized["nextPageToken"]), (7, &json!("")));
    }
}

/// A task whose status changes moves to the front.
#[tokio::test]
async fn filters_narrow_the_list() {
    for way in WAYS {
        let site = TestServer::new();
        let waiting = site.start_v1_task(way, "m-1", "ask").await;
        let done = site.start_v1_task(way, "m-2", "hello").await;
        let elsewhere = site
            .call_v1_at(
                way,
                "/a2a/agents/other",
                "SendMessage",
                &json!({"message": text_message("m-3", "hello")}),
                &[V1],
            )
            .await
            .unwrap();
        let id = |task: &Value| task["id"].as_str().unwrap().to_owned();
        for (params, expected) in [
            (json!({"contextId": waiting["contextId"]}), vec![id(&waiting)]),
            (json!({"contextId": "nobody's"}), vec![]),
            (json!({"status": "TASK_STATE_INPUT_REQUIRED"}), vec![id(&waiting)]),
            (json!({"status": "TASK_STATE_COMPLETED"}), vec![id(&done)]),
            (json!({"status": "TASK_STATE_CANCELED"}), vec![]),
            (json!({"status": "TASK_STATE_UNSPECIFIED", "contextId": done["contextId"]}), vec![id(&done)]),
            (json!({"statusTimestampAfter": "2999-01-01T00:00:00Z"}), vec![]),
            (
                json!({"statusTimestampAfter": done["status"]["timestamp"], "contextId": done["contextId"]}),
                vec![id(&done)],
            ),
            (json!({"contextId": elsewhere.0["task"]["contextId"]}), vec![]),
        ] {
            let found = page(&site, way, params.clone()).await;
            assert_eq!(ids(&found), expected, "{way:?} {params}");
            assert_eq!(found["totalSize"], expected.len());
        }
        let params = json!({"message": data_answer("m-4", &waiting, &json!({"amount": 1}))});
        site.call_v1(way, "SendMessage", &params).await.unwrap();
        let found = page(&site, way, json!({})).await;
        assert_eq!(ids(&found), [id(&waiting), id(&done)], "{way:?}");
        assert_eq!(short_state(&found["tasks"][0]["status"]), "AUTH_REQUIRED");
    }
}

#[tokio::test]
async fn a_listed_task_shows_what_is_asked_for() {
    for way in WAYS {
        let site = TestServer::new();
        let task = site.start_v1_task(way, "m-1", "hello").await;
        let mut plain = task.clone();
        plain.as_object_mut().unwrap().remove("artifacts");
        assert_eq!(page(&site, way, json!({})).await["tasks"][0], plain, "{way:?}");
        let whole = page(&site, way, json!({"includeArtifacts": true})).await;
        assert_eq!(whole["tasks"][0], task, "{way:?}");
        let short = page(&site, way, json!({"includeArtifacts": false, "historyLength": 0})).await;
        assert_eq!(short["tasks"][0].get("history"), None);
        assert_eq!(short["tasks"][0].get("artifacts"), None);
    }
}

/// Proves X5.
#[tokio::test]
async fn what_cannot_be_listed_is_refused() {
    for way in WAYS {
        let site = TestServer::new();
        for (params, field) in [
            (json!({"pageSize": 0}), "pageSize"),
            (json!({"pageSize": 101}), "pageSize"),
            (json!({"pageToken": "nonsense"}), "pageToken"),
            (json!({"status": "WORKING"}), "status"),
            (json!({"statusTimestampAfter": "soon"}), "statusTimestampAfter"),
            (json!({"historyLength": -1}), "historyLength"),
        ] {
            let refused = site.call_v1(way, "ListTasks", &params).await.unwrap_err();
            assert_eq!(refused.field(), field, "{way:?} {params}");
            assert_eq!(refused.code, if way == TestBinding::Rpc { -32602 } else { 400 });
        }
    }
}
