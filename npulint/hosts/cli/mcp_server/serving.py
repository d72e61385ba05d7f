"""Registers the tools at a server of the official SDK, which derives their schemas from the signatures."""

# No postponed annotations: their descriptions are in the language of the server.

from collections.abc import Callable
from importlib import import_module
from threading import Lock
from typing import Annotated, Any, Literal

import mcp.types
from pydantic import Field

from npulint import __version__
from npulint.core.errors import CatalogueError, NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.mcp_server.tools import MOST, Tools
from npulint.report.terminal import escape_control_chars

_ERROR = 2000  # characters of an error


def server(tools: Tools) -> Any:
    """A server with all tools, ready to run."""
    made, error = _sdk(say(tools.lang, "mcp.server"))
    _Registry(made, error, tools.lang).add_all(tools)
    return made


def _sdk(instructions: str) -> tuple[Any, type[Exception]]:
    """A server of the installed SDK, whose class has another name since version 2, and its error of tools."""
    try:
        module = import_module("mcp.server.mcpserver")
    except ModuleNotFoundError:
        module = import_module("mcp.server.fastmcp")
        return module.FastMCP("npulint", instructions, log_level="ERROR"), _tool_error("mcp.server.fastmcp")
    made = module.MCPServer("npulint", instructions=instructions, version=__version__, log_level="ERROR")
    return made, _tool_error("mcp.server.mcpserver")


def _tool_error(package: str) -> type[Exception]:
    error: type[Exception] = import_module(f"{package}.exceptions").ToolError
    return error


class _Registry:
    def __init__(self, made: Any, error: type[Exception], lang: str) -> None:
        self._made = made
        self._error = error
        self._lang = lang
        self._running = Lock()

    def add_all(self, tools: Tools) -> None:
        """Add the tools, each with typed and described arguments."""
        says = self._about
        paths = Annotated[list[str], Field(description=says("arg.paths"))]
        target = Annotated[dict[str, str], Field(description=says("arg.target"))]
        limit = Annotated[int, Field(description=says("arg.limit"), ge=1, le=MOST)]
        cursor = Annotated[str, Field(description=says("arg.cursor"))]
        self._add_checks(tools, paths, target, limit, cursor)
        self._add_projects(tools, target, limit, cursor)
        self._add_releases_and_logs(tools, limit, cursor)

    def _add_checks(self, tools: Tools, paths: Any, target: Any, limit: Any, cursor: Any) -> None:
        says = self._about

        def check(
            paths: paths = ["."],  # noqa: B006
            select: Annotated[list[str], Field(description=says("arg.select"))] = [],  # noqa: B006
            min_severity: Annotated[
                Literal["error", "warning", "note"], Field(description=says("arg.severity"))
            ] = "warning",
            target: target = {},  # noqa: B006
            limit: limit = 30,
            cursor: cursor = "",
        ) -> str:
            return self._answer(lambda: tools.check(paths, select, min_severity, target, limit, cursor))

        def explain(
            code: Annotated[str, Field(description=says("arg.code"))], limit: limit = 80, cursor: cursor = ""
        ) -> str:
            return self._answer(lambda: tools.explain(code, limit, cursor))

        def apply_fix(
            codes: Annotated[list[str], Field(description=says("arg.codes"), min_length=1)],
            paths: paths = ["."],  # noqa: B006
            unsafe: Annotated[bool, Field(description=says("arg.unsafe"))] = False,
            target: target = {},  # noqa: B006
        ) -> str:
            return self._answer(lambda: tools.apply_fix(codes, paths, unsafe, target))

        self._add(check)
        self._add(explain)
        self._add(apply_fix, writes=True)

    def _add_projects(self, tools: Tools, target: Any, limit: Any, cursor: Any) -> None:
        says = self._about

        def port_plan(
            project: Annotated[str, Field(description=says("arg.project"))] = ".",
            style: Annotated[Literal["", "transfer", "npu", "agnostic"], Field(description=says("arg.style"))] = "",
            entry: Annotated[list[str], Field(description=says("arg.entry"))] = [],  # noqa: B006
            target: target = {},  # noqa: B006
            limit: limit = 30,
            cursor: cursor = "",
        ) -> str:
            return self._answer(lambda: tools.port_plan(project, style, entry, target, limit, cursor))

        def compare(
            reference: Annotated[str, Field(description=says("arg.reference"))],
            migrated: Annotated[str, Field(description=says("arg.migrated"))],
            limit: limit = 30,
            cursor: cursor = "",
        ) -> str:
            return self._answer(lambda: tools.compare(reference, migrated, limit, cursor))

        self._add(port_plan)
        self._add(compare)

    def _add_releases_and_logs(self, tools: Tools, limit: Any, cursor: Any) -> None:
        says = self._about

        def versions(
            packages: Annotated[list[str], Field(description=says("arg.packages"))] = [],  # noqa: B006
            limit: limit = 12,
            cursor: cursor = "",
        ) -> str:
            return self._answer(lambda: tools.versions(packages, limit, cursor))

        def diagnose_log(
            path: Annotated[str, Field(description=says("arg.log"))] = "",
            text: Annotated[str, Field(description=says("arg.text"))] = "",
            limit: limit = 20,
            cursor: cursor = "",
        ) -> str:
            return self._answer(lambda: tools.diagnose_log(path, text, limit, cursor))

        self._add(versions)
        self._add(diagnose_log)

    def _about(self, key: str) -> str:
        return say(self._lang, f"mcp.{key}")

    def _add(self, tool: Callable[..., str], *, writes: bool = False) -> None:
        hints = {"readOnlyHint": not writes, "destructiveHint": writes, "idempotentHint": True, "openWorldHint": False}
        self._made.add_tool(
            tool,
            name=tool.__name__,
            description=self._about(tool.__name__),
            annotations=mcp.types.ToolAnnotations.model_validate(hints),
            structured_output=False,  # the text is the answer
        )

    def _answer(self, work: Callable[[], str]) -> str:
        """The answer of a tool, one at a time, because a run has the process for itself. What the agent can correct
        becomes an error of the tool."""
        try:
            with self._running:
                return work()
        except (NpulintError, CatalogueError) as error:
            text = "\n".join(map(escape_control_chars, str(error).split("\n")))
            raise self._error(text[:_ERROR]) from None
