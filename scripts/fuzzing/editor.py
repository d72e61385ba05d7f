"""What an editor may send: documents that change anywhere, requests about places that do not exist, and nonsense."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from scripts.fuzzing.conversation import NONSENSE
from scripts.fuzzing.example import Example, seeds_with
from scripts.fuzzing.mutation import nasty
from scripts.fuzzing.python_sources import programs
from scripts.fuzzing.trees import trees

ROOT_URI = "file://@OUT/project"
"""Where the project of an example is, in its messages."""
_NUMBERS = st.one_of(st.integers(0, 40), st.sampled_from([0, 10**6, 2**31 - 1]))
_PIECES = st.one_of(
    nasty, st.sampled_from(["x = torch.ones(1).cuda()\n", "import torch\n", "(", "\n" * 50]), programs()
)
_PATHS = ("train.py", "new.py", "sub/helper.py", "npulint.toml", "run.sh", "a%20b.py", "%FF.py", "../out.py", "n.ipynb")
_ODD_URIS = (
    "untitled:Untitled-1",
    "git:/x.py?a",
    "file:///",
    "",
    "http://x/y.py",
    "file://host/x.py",
    "\0",
    "file:///%zz",
)
_CAPABILITIES: tuple[dict[str, Any], ...] = (
    {},
    {"textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}}, "workspace": {"diagnostics": {}}},
    {
        "textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}},
        "workspace": {"workspaceEdit": {"documentChanges": True}},
    },
)


def message(body: object) -> bytes:
    """A message as it is sent."""
    return framed(json.dumps(body).encode())


def framed(data: bytes) -> bytes:
    """A body with its length before it."""
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def _request(number: int, method: str, params: object) -> bytes:
    return message({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _told(method: str, params: object) -> bytes:
    return message({"jsonrpc": "2.0", "method": method, "params": params})


def opening(capabilities: object = None, options: object = None) -> tuple[bytes, ...]:
    """What comes first."""
    params = {
        "processId": None,
        "rootUri": ROOT_URI,
        "capabilities": capabilities or {},
        "initializationOptions": options,
    }
    folder = {"uri": ROOT_URI, "name": "project"}
    return _request(1, "initialize", {**params, "workspaceFolders": [folder]}), _told("initialized", {})


def closing() -> tuple[bytes, ...]:
    """What comes last."""
    return _request(10**6, "shutdown", None), _told("exit", None)


@st.composite
def _ranges(draw: st.DrawFn) -> dict[str, Any]:
    places = [{"line": draw(_NUMBERS), "character": draw(_NUMBERS)} for _ in range(2)]
    return {"start": places[0], "end": places[1]}


@st.composite
def _steps(draw: st.DrawFn, number: int, uri: str, text: str) -> bytes:
    document = {"uri": uri, "version": number}
    form = draw(st.integers(0, 13))
    if form < 3:
        item = {**document, "languageId": "python", "text": draw(st.sampled_from([text, text, draw(_PIECES)]))}
        return _told("textDocument/didOpen", {"textDocument": item})
    if form < 7:
        changes = [
            {"text": draw(_PIECES), **({"range": draw(_ranges())} if draw(st.integers(0, 4)) else {})}
            for _ in range(draw(st.integers(1, 3)))
        ]
        return _told("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
    if form == 7:
        params = {"textDocument": document, "range": draw(_ranges()), "context": {"diagnostics": []}}
        return _request(number, "textDocument/codeAction", params)
    if form == 8:
        place = {"line": draw(_NUMBERS), "character": draw(_NUMBERS)}
        return _request(number, "textDocument/hover", {"textDocument": document, "position": place})
    if form == 9:
        return _request(number, "textDocument/diagnostic", {"textDocument": document})
    if form == 10:
        method = draw(st.sampled_from(["textDocument/didClose", "textDocument/didSave"]))
        return _told(method, {"textDocument": document})
    if form == 11:
        return _told("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": draw(st.integers(1, 3))}]})
    if form == 12:
        settings = {"settings": {"npulint": draw(trees(2))}}
        return _told("workspace/didChangeConfiguration", settings)
    command = {
        "command": "npulint.showPage",
        "arguments": [draw(st.sampled_from(["NPU2180", "../x", "", draw(nasty)]))],
    }
    return _request(number, "workspace/executeCommand", command)


@st.composite
def _nonsense(draw: st.DrawFn, number: int) -> bytes:
    """A message that no editor sends, in a frame that is right."""
    method = draw(
        st.sampled_from(["textDocument/didOpen", "textDocument/hover", "no/such", "textDocument/codeAction", ""])
    )
    forms: tuple[object, ...] = (
        {"jsonrpc": "2.0", "id": number, "method": method, "params": draw(trees(2))},
        {"jsonrpc": "2.0", "method": method, "params": draw(trees(2))},
        {"jsonrpc": "1.0", "id": number, "result": {}},
        {"jsonrpc": "2.0", "id": [], "method": method},
        [],
        7,
        None,
        {},
    )
    if draw(st.booleans()):
        return message(draw(st.sampled_from(forms)))
    return framed(
        draw(st.sampled_from([b"{", b"\xff", b'{"a":1}x', b"[" * 5000, b'"', draw(st.binary(min_size=1, max_size=9))]))
    )


@st.composite
def conversations(draw: st.DrawFn) -> Example:
    """An editor with a project, from the first message to the last."""
    files, name = draw(st.sampled_from(seeds_with(".py")))
    text = files[name].decode("utf-8", "replace")
    uris = [f"{ROOT_URI}/{path}" for path in (name, name, name, draw(st.sampled_from(_PATHS)))]
    said = list(
        opening(
            draw(st.sampled_from(_CAPABILITIES)), draw(st.sampled_from([None, {"scope": "workspace"}, draw(trees(2))]))
        )
    )
    item = {"uri": uris[0], "version": 1, "languageId": "python", "text": text}
    said.append(_told("textDocument/didOpen", {"textDocument": item}))
    for number in range(2, draw(st.integers(3, 12))):
        if draw(st.integers(0, 7)) == 0:
            said.append(draw(_nonsense(NONSENSE + number)))
        else:
            said.append(draw(_steps(number, draw(st.sampled_from([*uris, draw(st.sampled_from(_ODD_URIS))])), text)))
    return Example({**files}, ("server",), b"", (*said, *closing()))


__all__ = ["ROOT_URI", "closing", "conversations", "framed", "message", "opening"]
