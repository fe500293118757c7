"""An OpenAI-compatible language model server on this computer, for the demo and the tests of written answers.

It is llama.cpp's own HTTP server, from the Python package xllamacpp, with one model:

    python tools/model-server/server.py --model FILE.gguf [--port N] [--context N] [--name NAME]

`cargo xtask setup --generation` installs the package and a model. `cargo xtask demo --write` starts this program.

- It speaks the protocol of local/service.mjs: the environment variable PORT is the port on 127.0.0.1 (--port wins; 0, the
  default, picks a free one), and the line `ready URL` on stdout says that the model is loaded. Append /v1 to the URL to
  get the base URL of the API. The log goes to stderr.
- It exits with 0 on SIGINT, on SIGTERM, and when stdin is a pipe or socket whose other end is closed, so that it does not
  outlive the process that started it. Requests in progress are cut.
- It computes with one thread. The threads of llama.cpp wait for each other in a busy loop, so on cores that other programs
  use, two threads are many times slower than one.
- It answers one request at a time; others wait. A prompt longer than the context is rejected with HTTP 400 and the error
  type `exceed_context_size_error`.
- It listens on 127.0.0.1, answers no cross-origin request of a web page, and never downloads anything. It has no API key,
  so it is not meant for a network.
"""

import argparse
import os
import select
import signal
import stat
import sys
from pathlib import Path

HOST = "127.0.0.1"


def main() -> None:
    options = parse_options()
    parent = parent_pipe()
    try:
        import xllamacpp
    except ImportError:
        fail(f"{sys.executable} lacks the package xllamacpp: run `cargo xtask setup --generation`")

    # Until the model is loaded, signals end the process as they usually do. C++ code runs then, and no Python handler would.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server = xllamacpp.Server(parameters(xllamacpp, options))
    except Exception as error:  # The package raises what C++ throws.
        fail(f"llama.cpp cannot serve {options.model} on port {options.port}: {error}")

    wakeup = signal_pipe()
    print(f"ready {server.listening_address}", flush=True)
    wait_for_end(wakeup, parent)

    # Not sys.exit(): it would stop the server first, which waits until the answers in progress are complete.
    os._exit(0)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible language model server on this computer.")
    parser.add_argument("--model", required=True, type=Path, metavar="FILE", help="a GGUF file")
    parser.add_argument("--port", type=int, default=os.environ.get("PORT") or "0", help="0 picks a free one")
    parser.add_argument("--context", type=int, default=4096, metavar="TOKENS", help="prompt and answer together")
    parser.add_argument("--name", help="the model's name in the API; the name of the file if left out")
    options = parser.parse_args()
    if not options.model.is_file():
        fail(f"--model {options.model}: no such file; `cargo xtask setup --generation` installs a model")
    if not 0 <= options.port <= 65535:
        fail(f"the port must be a whole number from 0 to 65535, not {options.port}")
    return options


def parameters(xllamacpp, options: argparse.Namespace):
    found = xllamacpp.CommonParams()
    found.model.path = str(options.model)
    found.model_alias = {options.name or options.model.stem}
    found.hostnames = [HOST]
    found.port = options.port
    found.n_ctx = options.context
    found.n_parallel = 1
    found.cpuparams.n_threads = found.cpuparams_batch.n_threads = 1
    # The default keeps the prompts of earlier requests in up to 8 GiB of memory.
    found.cache_ram_mib = 0
    found.offline = True
    found.ui = False
    # Pages of other origins must not reach it. An origin that no page has replaces the default, which is every origin.
    found.cors_origins = "null://none"
    found.cors_credentials = False
    return found


def parent_pipe() -> int | None:
    """Stdin if it is a pipe or socket, whose end is the end of the parent. A terminal or /dev/null says nothing about one."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    return 0 if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None


def signal_pipe() -> int:
    """A file descriptor that becomes readable when a signal to stop arrives."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return reader


def wait_for_end(wakeup: int, parent: int | None) -> None:
    watched = [wakeup] if parent is None else [wakeup, parent]
    while True:
        readable, _, _ = select.select(watched, [], [])
        # What the parent writes is ignored.
        if wakeup in readable or not os.read(parent, 4096):
            return


def fail(message: str) -> None:
    print(message, file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    main()
