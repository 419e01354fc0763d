"""A server that is as far away as GitHub: it waits before it answers, and sends at a limited rate.

Belongs here: one file, served to whoever asks. Only the standard library is imported.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LATENCY_SECONDS = 0.03
BYTES_PER_SECOND = 20 * 10**6

_CHUNK = 2**16


@contextlib.contextmanager
def served(file: Path) -> Iterator[str]:
    """Serve a file for as long as the context lasts, and give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer after the latency, and let no byte come sooner than the rate allows."""
            time.sleep(LATENCY_SECONDS)
            self.send_response(200)
            self.send_header("Content-Length", str(file.stat().st_size))
            self.end_headers()
            start, sent = time.monotonic(), 0
            with file.open("rb") as content:
                while chunk := content.read(_CHUNK):
                    self.wfile.write(chunk)
                    sent += len(chunk)
                    ahead = sent / BYTES_PER_SECOND - (time.monotonic() - start)
                    time.sleep(max(0, ahead))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{file.name}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
