"""The plugin of pytest: fixtures and a marker by which the tests of a project fail on a new fallback.

It is loaded in every run of pytest where npulint is installed, so it imports nothing and does nothing until a test
asks for it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from npulint.live.testing import Checks

_CHECKS = "_npulint_checks"  # where the configuration of pytest keeps what was checked
_MARKER = (
    "npulint_torch(release='', fail_on='', allow=()): record what PyTorch runs in this test, and fail on operators "
    "that do not run on the NPU"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the command line and of the configuration."""
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
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


def _checks(config: pytest.Config) -> Checks:
    """What the run has checked so far."""
    known: Checks | None = getattr(config, _CHECKS, None)
    if known is None:
        from npulint.live.testing import Checks

        known = Checks(
            str(config.rootpath),
            baseline=str(config.getini("npulint_baseline")),
            fail_on=str(config.getini("npulint_fail_on")),
            release=str(config.getini("npulint_torch_release")),
            update=bool(config.getoption("--npulint-update-baseline")),
        )
        setattr(config, _CHECKS, known)
    return known


def _needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"npulint: {module} is not installed")


@pytest.fixture
def npulint_torch(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run one step of a model on an imaginary NPU: ``npulint_torch(model, inputs, train=True)``. The test fails when an
    operator leaves the NPU that neither ``allow`` nor the baseline names. Takes ``release``, ``fail_on``, ``allow`` and
    what `npulint.live.check_torch` takes, and returns its result."""
    _needs("torch")
    return _checks(request.config).torch(request.node.nodeid)


@pytest.fixture
def npulint_tensorflow(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Judge the graph of a model, function or graph: ``npulint_tensorflow(model, x, y)``. The test fails as with
    ``npulint_torch``. Takes ``fail_on``, ``allow`` and what `npulint.live.check_tensorflow` takes, and returns its
    result."""
    _needs("tensorflow")
    return _checks(request.config).tensorflow(request.node.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Watch the body of a test with the marker; a failure of its own goes before what npulint has to say."""
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
            watch.tell()
        except BaseException as error:  # whatever it is, it is the test's outcome
            outcome.force_exception(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the baseline; a worker of pytest-xdist hands on what it found."""
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
    """Take over what a worker of pytest-xdist found."""
    data = getattr(node, "workeroutput", {}).get("npulint")
    if data is not None:
        _checks(node.config).unpack(data)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """A section about what was checked, if anything was."""
    checks: Checks | None = getattr(config, _CHECKS, None)
    if checks is not None and checks.told:
        terminalreporter.section("npulint")
        for line in checks.summary():
            terminalreporter.write_line(line)
