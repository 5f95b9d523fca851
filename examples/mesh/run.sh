#!/bin/sh
# Starts both processes on free ports of this machine, sends the two requests of the README and stops both.
# TRACKWAY names the binary, if it is not in the PATH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
trackway=${TRACKWAY:-trackway}
work=$(mktemp -d)
pids=

stop() {
    # Only the two processes that were started here.
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

# serve NAME FD: starts a workspace, and puts its address into $url.
serve() {
    mkfifo "$work/$1.said"
    TRACKWAY_DATA="$work/$1" "$trackway" serve --json --listen 127.0.0.1:0 --workspace "$here/$1" \
        >"$work/$1.said" 2>"$work/$1.log" &
    pids="$! $pids"
    # Its first line says where it listens. The pipe stays open for what it may say later.
    eval "exec $2<\"\$work/\$1.said\""
    if ! eval "IFS= read -r said <&$2"; then
        cat "$work/$1.log" >&2
        exit 1
    fi
    url=$(printf '%s\n' "$said" | sed -n 's/.*"url":"\([^"]*\)".*/\1/p')
    echo "$1 listens at $url" >&2
}

# ask TITLE PARTS: sends one message to the agent of the orders team and prints the task.
ask() {
    echo "--- $1" >&2
    curl -sS --fail-with-body "$orders/a2a/agents/orders" \
        -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
        -d '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message":
            {"messageId": "'"$(date +%s)-$$-$1"'", "role": "ROLE_USER", "parts": ['"$2"']}}}'
    echo
}

serve onboarding 3
ONBOARDING_URL="$url/a2a/agents/onboarding"
export ONBOARDING_URL
serve orders 4
orders=$url

# The peer is known once its card was read.
curl -sS --fail-with-body -X POST "$orders/api/peers/onboarding/ping"
echo

ask parameters '{"text": "Onboard user John Doe."}'
ask artifact '{"text": "Process this CSV file using the onboarding workflow."},
    {"raw": "'"$(base64 -w 0 "$here/data.csv")"'", "filename": "data.csv", "mediaType": "text/csv"}'
