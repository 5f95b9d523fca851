"""A webhook on this machine: takes every notification and keeps it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Far longer than a delivery takes, also on a busy machine: only a lost one gets there.
PATIENCE_S = 60


class Hook:
    def __init__(self):
        self._taken = []
        self._changed = threading.Condition()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with hook._changed:
                    hook._taken.append((headers, body))
                    hook._changed.notify_all()
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Says nothing: stdout belongs to the test."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def until(self, state_of, state):
        """Waits for a notification of that state; returns every notification until then."""

        def there():
            return any(state_of(body) == state for _, body in self._taken)

        with self._changed:
            assert self._changed.wait_for(there, PATIENCE_S), f"no notification of {state}"
            return list(self._taken)
