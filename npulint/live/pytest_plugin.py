"""The pytest plugin: fixtures and a marker that fail tests on new CPU fallbacks.

It is loaded in every pytest run where npulint is installed, so it imports nothing until a test uses it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from npulint.live.testing import Checks

_CHECKS = "_npulint_checks"  # attribute of pytest.Config
_MARKER = (
    "npulint_torch(release='', fail_on='', allow=()): record what PyTorch runs in this test, and fail on operators "
    "that do not run on the NPU"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add command line and configuration options."""
    parser.addini("npulint_torch_release", "the PyTorch release to check against (default: the project's)", default="")
    parser.addini(
        "npulint_fail_on", "minimum severity at which npulint fails a test (default: warning)", default="warning"
    )
    parser.addini("npulint_baseline", "baseline file of accepted findings", default="npulint-tests.json")
    parser.getgroup("npulint").addoption(
        "--npulint-update-baseline",
        action="store_true",
        help="accept all findings in these tests: write them to the baseline and do not fail",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


def _checks(config: pytest.Config) -> Checks:
    """The live checks of this pytest run."""
    checks: Checks | None = getattr(config, _CHECKS, None)
    if checks is None:
        from npulint.live.testing import Checks

        checks = Checks(
            str(config.rootpath),
            baseline=str(config.getini("npulint_baseline")),
            fail_on=str(config.getini("npulint_fail_on")),
            release=str(config.getini("npulint_torch_release")),
            update=bool(config.getoption("--npulint-update-baseline")),
        )
        setattr(config, _CHECKS, checks)
    return checks


def _needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"npulint: {module} is not installed")


@pytest.fixture
def npulint_torch(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run one step of a model on the fake NPU: ``npulint_torch(model, inputs, train=True)``. The test fails when an
    operator falls back to the CPU, unless in ``allow`` or the baseline. Takes ``release``, ``fail_on``, ``allow`` and
    the arguments of `npulint.live.check_torch`, and returns its result."""
    _needs("torch")
    return _checks(request.config).torch(request.node.nodeid)


@pytest.fixture
def npulint_tensorflow(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Check the graph of a model, function or graph: ``npulint_tensorflow(model, x, y)``. The test fails as with
    ``npulint_torch``. Takes ``fail_on``, ``allow`` and the arguments of `npulint.live.check_tensorflow`, and returns
    its result."""
    _needs("tensorflow")
    return _checks(request.config).tensorflow(request.node.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Watch the body of a test with the marker; its own failure takes precedence over findings."""
    marker = item.get_closest_marker("npulint_torch")
    if marker is None:
        yield
        return
    _needs("torch")
    watch = _checks(item.config).watch(item.nodeid, str(item.path), *marker.args, **marker.kwargs)
    watch.begin()
    outcome = yield
    watch.end()
    if outcome.excinfo is None:
        try:
            watch.check()
        except BaseException as error:  # including pytest outcomes
            outcome.force_exception(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the baseline; a pytest-xdist worker sends its reports instead."""
    checks: Checks | None = getattr(session.config, _CHECKS, None)
    if checks is None:
        return
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        checks.finish()
    else:
        output["npulint"] = checks.packed()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receive the reports of a pytest-xdist worker."""
    data = getattr(node, "workeroutput", {}).get("npulint")
    if data is not None:
        _checks(node.config).unpack(data)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print a section about live checks, if there were any."""
    checks: Checks | None = getattr(config, _CHECKS, None)
    if checks is not None and checks.reports:
        terminalreporter.section("npulint")
        for line in checks.summary():
            terminalreporter.write_line(line)
