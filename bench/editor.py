"""How long an editor waits for npulint, measured through a client that talks to ``npulint server`` over stdio, and how
long a hook that checks one changed file takes.

    python bench/editor.py [PROJECT FILE] [--runs N] [--edits N] [--files N]

Measures a project, by default one that it makes: 60 files, one of 1,283 lines.

    python   python -c pass
    start    from the start of the server to the first diagnostics of FILE, the cache filled
    open     from opening FILE to its diagnostics, in a server that has started, the cache filled
    change   from a change of one line of FILE to its diagnostics
    burst    from the last of ten changes, 20 ms apart, to the diagnostics of the last version
    hook     npulint check --consequences-since auto of one changed file of a git repository of 500 files
    cold     npulint check of that repository, nothing remembered
    cached   the same again

Every measure is repeated in turns with python, and shown in CPU seconds of npulint's process and on the wall clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import run

LINES = 1283
FILES = 60
HOOK_FILES = 500
_PULL = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
_PUSH = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}


class Client:
    """An editor without a window. With `pull` it asks for diagnostics, else they are pushed to it."""

    def __init__(self, folder: Path, cache: Path, pull: bool = False) -> None:
        environment = os.environ | {"PYTHONPATH": str(run.ROOT), "NPULINT_CACHE_DIR": str(cache)}
        words = [sys.executable, "-m", "npulint", "server"]
        self._pull = pull
        self._last = 0
        self._version = 0
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        capabilities = _PULL if pull else _PUSH
        self.ask("initialize", {"processId": None, "capabilities": capabilities, "workspaceFolders": folders})
        self.tell("initialized", {})

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self._last += 1
        number = self._last
        self._send({"id": number, "method": method, "params": params})
        return self._until(lambda message: message.get("id") == number and "method" not in message)["result"]

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message for which something holds; requests of the server are answered with null."""
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                sys.exit("bench: the server has ended")
            message: dict[str, Any] = json.loads(stream.read(length))
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": None})
            elif true(message):
                return message

    def open(self, path: Path, text: str) -> None:
        self._version = 1
        item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def close(self, path: Path) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def insert(self, path: Path, line: int, text: str) -> None:
        """Insert a text at the beginning of a line."""
        self._version += 1
        place = {"line": line, "character": 0}
        change = {"range": {"start": place, "end": place}, "text": text}
        document = {"uri": path.as_uri(), "version": self._version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def diagnostics(self, path: Path) -> Any:
        """The diagnostics of the latest version."""
        uri, version = path.as_uri(), self._version
        if self._pull:
            return self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
        published = self._until(
            lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == uri
                and message["params"].get("version") == version
            )
        )
        return published["params"]["diagnostics"]

    def cpu(self) -> float:
        """The CPU seconds of the server so far (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(20)


def timed(client: Client, work: Callable[[], object]) -> run.Cost:
    wall, cpu = time.perf_counter(), client.cpu()
    work()
    return run.Cost(time.perf_counter() - wall, client.cpu() - cpu)


def edited(client: Client, path: Path, number: int, line: int) -> run.Cost:
    """One change of a line, in a pause of typing."""
    time.sleep(0.3)

    def work() -> None:
        client.insert(path, line, f"edited_{number} = {number}\n")
        client.diagnostics(path)

    return timed(client, work)


def typed(client: Client, path: Path, line: int) -> run.Cost:
    """The wait after the last of ten changes."""
    time.sleep(0.3)
    for number in range(9):
        client.insert(path, line, f"typed_{number} = {number}\n")
        time.sleep(0.02)

    def work() -> None:
        client.insert(path, line, "typed = 0\n")
        client.diagnostics(path)

    return timed(client, work)


def python() -> run.Cost:
    return run.timed(["-c", "pass"])


def measure_editor(
    folder: Path, path: Path, cache: Path, runs: int, edits: int, pull: bool, costs: dict[str, list[run.Cost]]
) -> None:
    text = path.read_text(encoding="utf-8")
    line = text.count("\n") - 1
    run.check(folder, cache)
    for _ in range(runs):
        costs.setdefault("python", []).append(python())
        begun = time.perf_counter()
        client = Client(folder, cache, pull)
        client.open(path, text)
        client.diagnostics(path)
        costs.setdefault("start", []).append(run.Cost(time.perf_counter() - begun, client.cpu()))
        client.end()
        client = Client(folder, cache, pull)
        time.sleep(1)

        def opened(client: Client = client) -> None:
            client.open(path, text)
            client.diagnostics(path)

        costs.setdefault("open", []).append(timed(client, opened))
        time.sleep(1.5)
        for number in range(edits):
            costs.setdefault("python", []).append(python())
            costs.setdefault("change", []).append(edited(client, path, number, line))
        costs.setdefault("burst", []).append(typed(client, path, line))
        client.end()


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)


def measure_hook(folder: Path, path: Path, cache: Path, runs: int, costs: dict[str, list[run.Cost]]) -> None:
    """`folder` becomes a git repository, of which one file changes."""
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "before")
    text = path.read_text(encoding="utf-8")
    run.prepare(path, cache)
    whole = ["-m", "npulint", "check", "--isolated", "."]
    hook = ["-m", "npulint", "check", "--isolated", "--force-exclude", "--consequences-since", "auto"]
    here = os.getcwd()
    os.chdir(folder)
    try:
        for number in range(runs):
            for one in cache.glob("*.sqlite*"):
                one.unlink()
            path.write_text(text, encoding="utf-8")
            run.prepare(path, cache)
            costs.setdefault("cold", []).append(run.timed(whole, cache=cache))
            costs.setdefault("cached", []).append(run.timed(whole, cache=cache))
            costs.setdefault("python", []).append(python())
            path.write_text(text + f"edited = {number}\n", encoding="utf-8")
            costs.setdefault("hook", []).append(run.timed([*hook, "--", str(path.relative_to(folder))], cache=cache))
    finally:
        os.chdir(here)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, nargs="?", help="folder of the project; made if absent")
    parser.add_argument("file", type=Path, nargs="?", help="the file in it that is edited")
    parser.add_argument("--runs", type=int, default=5, help="servers, and runs of the hook")
    parser.add_argument("--edits", type=int, default=5, help="changes in each server")
    parser.add_argument("--files", type=int, default=HOOK_FILES, help="files of the repository; 0: no hook")
    parser.add_argument("--pull", action="store_true", help="ask for diagnostics instead of waiting for them")
    options = parser.parse_args()
    costs: dict[str, list[run.Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="npulint-bench-") as name:
        work = Path(name).resolve()
        if options.project is None:
            path = run.make_project(work / "project", FILES, LINES)
            folder = path.parent
        else:
            folder, path = options.project.resolve(), options.file.resolve()
        if options.edits:
            measure_editor(folder, path, work / "cache", options.runs, options.edits, options.pull, costs)
        if options.files:
            long = run.make_project(work / "repository", options.files)
            measure_hook(work / "repository", long, work / "hooks", options.runs, costs)
    run.report(costs)


if __name__ == "__main__":
    main()
