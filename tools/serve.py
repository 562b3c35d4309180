"""Show the built site on this machine: `python tools/serve.py [PORT]`, 8000 if none is named."""

import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C."""
    port = arguments[0] if arguments else "8000"
    if not port.isdigit() or not 0 < int(port) < 65536:
        print(f"PORT={port}: a number from 1 to 65535 is needed.")
        return 2
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(HTML))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), handler)
    except OSError as error:
        print(f"Port {port} cannot be used ({error.strerror}). Name another: make serve PORT=8123")
        return 1
    print(f"Serving http://localhost:{port} (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
