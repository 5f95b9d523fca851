"""A workflow to its end, with whatever calls tools."""

import json


async def walk(call, workflow):
    listed = await call("workflow_list", {})
    names = [item["workflowId"] for item in listed["workflows"]]
    print(json.dumps({"op": "list", "workflows": names}), flush=True)
    step = await call("workflow_start", {"workflowId": workflow})
    print(json.dumps({"op": "start", "step": step}), flush=True)
    while not step["isComplete"]:
        tokens = {"stateToken": step["stateToken"], "ackToken": step["ackToken"]}
        step = await call("workflow_advance", {**tokens, "output": {"notesMarkdown": "Done."}})
        print(json.dumps({"op": "advance", "step": step}), flush=True)
