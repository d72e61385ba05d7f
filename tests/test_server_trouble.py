"""What the server does when something goes wrong in itself, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from npulint.hosts.server.configuration import ConfigProblem
from npulint.hosts.server.engine import EngineAnswer
from npulint.hosts.server.server import Server
from npulint.hosts.server.uris import uri_of
from scripts.fuzzing.conversation import converse
from scripts.fuzzing.editor import ROOT_URI, closing, opening
from scripts.fuzzing.example import Example
from tests.project_support import Project

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


class Heard(Server):
    """A server whose words are kept."""

    def __init__(self) -> None:
        super().__init__({}, lambda settings: lambda code: None)
        self.protocol.client_capabilities = lsp.ClientCapabilities()
        self.shown: list[str] = []
        self.logged: list[str] = []

    def window_show_message(self, params: lsp.ShowMessageParams) -> None:
        self.shown.append(params.message)

    def window_log_message(self, params: lsp.LogMessageParams) -> None:
        self.logged.append(params.message)


def test_a_bug_is_logged_each_time_and_shown_once() -> None:
    server = Heard()
    for _ in range(3):
        server._on_answer(EngineAnswer(failures=["Traceback\nRuntimeError: x"]))
    assert len(server.logged) == 3
    assert [text for text in server.shown if "bug in npulint" in text] == server.shown
    assert len(server.shown) == 1


def test_a_problem_of_the_configuration_is_shown_once() -> None:
    server = Heard()
    answer = EngineAnswer(problems=[ConfigProblem("/w/npulint.toml", 2, 1, "unknown key `x`")])
    server._on_answer(answer)
    server._on_answer(answer)
    assert server.shown == [
        "npulint: the configuration is invalid and cannot be used: /w/npulint.toml:2: unknown key `x`"
    ]


def test_a_notice_is_logged_once() -> None:
    server = Heard()
    for _ in range(2):
        server._on_answer(EngineAnswer(notices=["`ignore` names no check"]))
    assert (server.logged, server.shown) == (["`ignore` names no check"], [])


def test_the_verdict_on_a_project_is_logged_when_it_changes() -> None:
    server = Heard()
    for text in ("It stops.", "It stops.", "It runs."):
        server._on_answer(EngineAnswer(verdicts={"/w": text}))
    assert (server.logged, server.shown) == (["/w: It stops.", "/w: It runs."], [])


def test_a_bug_in_what_is_shown_does_not_stop_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Heard()

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(server, "show", broken)
    server._on_answer(EngineAnswer())
    assert "ZeroDivisionError" in server.logged[0]


def message(**parts: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **parts}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(data: bytes) -> list[dict[str, Any]]:
    """The messages in what a server wrote; anything else between them is an error."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.split(b"\r\n")[0].removeprefix(b"Content-Length: "))
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found


def test_only_the_protocol_is_on_standard_output_and_broken_messages_end_nothing(
    tmp_path: Path, cache_folder: Path
) -> None:
    train = tmp_path / "train.py"
    train.write_text("import torch\n")
    said = b"".join(
        [
            message(
                id=1,
                method="initialize",
                params={"processId": None, "rootUri": uri_of(str(tmp_path)), "capabilities": {}},
            ),
            message(method="initialized", params={}),
            b"Content-Length: 7\r\n\r\n{broken",
            message(method="textDocument/didOpen", params={"wrong": 1}),
            message(id=2, method="textDocument/hover", params={"textDocument": {}, "position": None}),
            message(id=3, method="no/such", params={}),
            message(id=4, method="shutdown"),
            message(method="exit"),
        ]
    )
    env = {**os.environ, "NPULINT_CACHE_DIR": str(cache_folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "npulint", "server", "--stdio"],
        input=said, capture_output=True, timeout=30, check=False, cwd=tmp_path, env=env,
    )  # fmt: skip
    found = answers(done.stdout)
    by_id = {one["id"]: one for one in found if "id" in one and "method" not in one}
    assert by_id[1]["result"]["serverInfo"]["name"] == "npulint"
    assert by_id[3]["error"]["code"] == -32601
    assert by_id[4]["result"] is None
    assert done.returncode == 0, done.stderr.decode()


def test_it_ends_at_once_when_the_editor_goes_while_it_works(tmp_path: Path, cache_folder: Path) -> None:
    for number in range(300):
        (tmp_path / f"part{number}.py").write_text("import torch\n" + f"x{number} = torch.ones(1).cuda()\n" * 300)
    env = {**os.environ, "NPULINT_CACHE_DIR": str(cache_folder), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "npulint", "server"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path, env=env,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    options = {"scope": "workspace"}
    params = {"processId": None, "rootUri": uri_of(str(tmp_path)), "capabilities": {}, "initializationOptions": options}
    process.stdin.write(message(id=1, method="initialize", params=params))
    process.stdin.write(message(method="initialized", params={}))
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"Content-Length")
    time.sleep(0.3)
    process.stdin.close()
    process.stdout.close()
    assert process.wait(20) == 1  # the work would take minutes


def test_a_hover_behind_the_end_of_a_shortened_document_is_answered(project: Project) -> None:
    """The conversation fails if a request stays unanswered."""
    uri = f"{ROOT_URI}/train.py"
    text = "import torch\n" + "x = torch.ones(1).cuda()\n" * 40
    project.write({"train.py": text})
    document = {"uri": uri, "version": 1, "languageId": "python", "text": text}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 41, "character": 0}}
    place = {"line": 33, "character": 2**31 - 1}
    for changes in ([{"text": "4"}], [{"text": "4", "range": whole}]):
        said = (
            message(method="textDocument/didOpen", params={"textDocument": document}),
            message(
                method="textDocument/didChange",
                params={"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes},
            ),
            message(id=3, method="textDocument/hover", params={"textDocument": {"uri": uri}, "position": place}),
        )
        example = Example({}, ("server",), b"", (*opening(), *said, *closing()))
        assert converse(example, project.folder) is None
