"""How fast npulint is, against the least that any linter must do: parse the files.

    python bench/run.py [DIRECTORY] [--runs N] [--projects N] [--record]
    python bench/run.py [DIRECTORY] --profile [--json FILE]

Measures whole processes, in one go, on the projects below DIRECTORY, or on a corpus that it makes from examples/:

    floor    ast.parse of every .py file in one process
    cold     npulint check, nothing remembered of the files
    cached   the same again, cache filled
    single   npulint check --no-cache of one file of 400 lines
    python   python -c pass
    edit     what an editor waits for after each edit of a file of 1,000 lines among 200

`--profile` shows instead which share of a cold check each stage takes, for the projects of each framework, also as
JSON. `--record` adds the ratios to the history of releases, which `scripts/performance_chart.py` draws.

Byte code and the compiled catalogue are there beforehand, as an installed package has them.

The exit status is 1 when a median misses a bar: cold at most 3 floors and cached at most a fifth of cold, in CPU
seconds of all processes; single at most 150 ms or 8 times python, whichever is more, and edit at most 300 ms, on the
wall clock.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import history, stages  # noqa: E402
from npulint import __version__  # noqa: E402

PARSE = """
import ast, sys, warnings
warnings.simplefilter("ignore")
for path in sys.stdin.read().splitlines():
    with open(path, "rb") as stream:
        source = stream.read()
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        pass
"""
EDITS = """
import sys, time
from npulint.commands.session import Session
from npulint.judge.settings import Settings
folder, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(path, "rb") as stream:
    text = stream.read()
session = Session(Settings(paths=(folder,), cache=False))
session.check(path)
for number in range(count):
    session.rest()
    begun, used = time.perf_counter(), time.process_time()
    session.change(path, text + b"edited = %d\\n" % number)
    session.check(path)
    print(time.perf_counter() - begun, time.process_time() - used)
"""
LINES = 400
LONG = 1000
MODULES = 200


class Cost(NamedTuple):
    """Seconds that one process tree took."""

    wall: float
    cpu: float


class Bar(NamedTuple):
    """A promise: the first measure stays below `limit`."""

    text: str
    value: float
    limit: float


def spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _environment(cache: Path | None) -> dict[str, str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NPULINT_CACHE_DIR": str(cache or "")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # all but the first run find byte code
    return environment


def timed(arguments: Sequence[str], stdin: str = "", cache: Path | None = None) -> Cost:
    """Runs this Python with arguments; a status other than 0 and 1 is an error."""
    words = [sys.executable, *arguments]
    cpu, wall = spent(), time.perf_counter()
    done = subprocess.run(words, input=stdin, env=_environment(cache), capture_output=True, text=True)
    cost = Cost(time.perf_counter() - wall, spent() - cpu)
    if done.returncode not in (0, 1):
        sys.exit(f"bench: status {done.returncode} from {' '.join(arguments)}\n{done.stderr[-2000:]}")
    return cost


def check(path: Path, cache: Path, *options: str) -> Cost:
    return timed(["-m", "npulint", "check", "--isolated", *options, str(path)], cache=cache)


def prepare(single: Path, cache: Path) -> None:
    """Write the byte code and, into an empty cache, the compiled catalogue."""
    check(single, cache, "--no-cache")


def varied(source: str, number: int) -> str:
    """The same code under other names and numbers, so that no two files have the same content."""
    source = re.sub(r"\b(noisy|clean|estimate|features|gradients|images|losses)\b", rf"\g<1>_{number}", source)
    return re.sub(r"\b(\d{4,})\b", lambda m: str(int(m[1]) + number), source)


def samples() -> list[str]:
    """The sample projects of which copies are made: those that consist of code."""
    names = (path.name for path in (ROOT / "examples").iterdir() if path.is_dir())
    return sorted(name for name in names if name != "configured")


def make_corpus(target: Path, projects: int) -> None:
    """Variations of the sample projects, each with a README so that it counts as a project."""
    for number in range(projects):
        for sample in samples():
            home = target / f"{sample}_{number}"
            for path in sorted((ROOT / "examples" / sample).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    copy = home / path.relative_to(ROOT / "examples" / sample)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    data = path.read_bytes()
                    copy.write_bytes(varied(data.decode(), number).encode() if path.suffix == ".py" else data)
            (home / "README.md").write_text(f"# {sample} {number}\n", encoding="utf-8")


def make_single(target: Path, count: int = LINES) -> Path:
    """One script of `count` lines that trains: pieces of the sample, filled up with comments."""
    pieces = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "examples" / "denoiser").glob("*.py"))]
    lines: list[str] = []
    for number in range(count):
        piece = varied(pieces[number % len(pieces)], number).splitlines()
        if len(lines) + len(piece) > count:
            break
        lines += piece
    lines += ["# filled up"] * (count - len(lines))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def make_project(target: Path, modules: int = MODULES, lines: int = LONG) -> Path:
    """A project of so many modules, variations of those of the samples, in packages of some twenty. The path of its one
    long file."""
    pieces = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "examples").glob("*/*.py"))]
    target.mkdir(parents=True)
    (target / "README.md").write_text("# A large project\n", encoding="utf-8")
    for number in range(modules - 1):
        package = target / f"part_{number // 20}"
        package.mkdir(exist_ok=True)
        text = varied(pieces[number % len(pieces)], number)
        (package / f"module_{number}.py").write_text(text, encoding="utf-8")
    return make_single(target / "train.py", lines)


def edits(project: Path, path: Path, count: int) -> list[Cost]:
    """What a process that keeps the project in memory takes after each of `count` edits of the file at `path`."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", EDITS, str(project), str(path), str(count)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: status {done.returncode}\n{done.stderr[-2000:]}")
    return [Cost(*map(float, line.split())) for line in done.stdout.splitlines()]


def measure(corpus: Path, single: Path, caches: Path, runs: int) -> dict[str, list[Cost]]:
    """Every measure `runs` times, in turns, so that a slow moment of the machine meets them all."""
    files = "\n".join(str(p) for p in sorted(corpus.rglob("*.py")) if p.is_file())
    timed(["-c", PARSE], files)  # the file cache of the system is warm for everyone
    costs: dict[str, list[Cost]] = {}
    for number in range(runs):
        cache = caches / str(number)
        prepare(single, cache)
        turns: dict[str, Callable[[], Cost]] = {
            "floor": lambda: timed(["-c", PARSE], files),
            "cold": partial(check, corpus, cache),
            "cached": partial(check, corpus, cache),
            "single": partial(check, single, cache, "--no-cache"),
            "python": lambda: timed(["-c", "pass"]),
        }
        for name, turn in turns.items():
            costs.setdefault(name, []).append(turn())
    return costs


def report(costs: dict[str, list[Cost]]) -> None:
    print(f"{'':8}{'CPU seconds':^33}{'wall seconds':^33}")
    print(f"{'':8}" + f"{'min':>11}{'median':>11}{'max':>11}" * 2)
    for name, runs in costs.items():
        numbers = [f(v) for v in ([c.cpu for c in runs], [c.wall for c in runs]) for f in (min, statistics.median, max)]
        print(f"{name:8}" + "".join(f"{number:11.3f}" for number in numbers))


def bars(costs: dict[str, list[Cost]]) -> list[Bar]:
    cpu = {name: statistics.median(c.cpu for c in runs) for name, runs in costs.items()}
    wall = {name: statistics.median(c.wall for c in runs) for name, runs in costs.items()}
    return [
        Bar("cold / floor (CPU)", cpu["cold"] / cpu["floor"], 3.0),
        Bar("cached / cold (CPU)", cpu["cached"] / cpu["cold"], 0.2),
        Bar("single file (wall ms)", wall["single"] * 1000, max(150.0, 8000 * wall["python"])),
        Bar("edit (wall ms)", wall["edit"] * 1000, 300.0),
    ]


def ratios(costs: dict[str, list[Cost]]) -> tuple[float, float, float]:
    """What the history records: cold and cached to the floor, one file to ``python -c pass``."""
    cpu = {name: statistics.median(c.cpu for c in runs) for name, runs in costs.items()}
    return cpu["cold"] / cpu["floor"], cpu["cached"] / cpu["floor"], cpu["single"] / cpu["python"]


def profile(corpus: Path, work: Path, runs: int) -> dict[str, dict[str, float]]:
    """CPU seconds of each stage by framework: medians of processes that each begin with an empty cache."""
    groups = stages.by_framework(corpus)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in groups}
    single = make_single(work / "single" / "train.py")
    for number in range(runs):
        for name, paths in groups.items():
            cache = work / f"cache-{name}-{number}"
            prepare(single, cache)
            words = [sys.executable, str(ROOT / "bench" / "stages.py"), *paths]
            done = subprocess.run(words, env=_environment(cache), capture_output=True, text=True, check=True)
            found[name].append(json.loads(done.stdout))
    return {
        name: {one: statistics.median(run[one] for run in many) for one in stages.STAGES}
        for name, many in found.items()
    }


def run(corpus: Path, work: Path, runs: int, record: bool) -> int:
    files = [p for p in corpus.rglob("*.py") if p.is_file()]
    size = sum(p.stat().st_size for p in files)
    print(f"{len(files)} Python files, {size / 1e6:.1f} MB; {runs} runs; Python {sys.version.split()[0]}")
    costs = measure(corpus, make_single(work / "single" / "train.py"), work / "caches", runs)
    costs["edit"] = edits(work / "project", make_project(work / "project"), runs)
    report(costs)
    if record:
        today, python = datetime.date.today().isoformat(), "{}.{}".format(*sys.version_info)
        history.record(history.Row(__version__, today, python, *ratios(costs)))
    broken = 0
    for bar in bars(costs):
        held = bar.value <= bar.limit
        broken += not held
        print(f"{'ok  ' if held else 'MISS'} {bar.text}: {bar.value:.2f}, at most {bar.limit:.2f}")
    return int(broken > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", help="projects to measure on; made from examples/ if absent")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--projects", type=int, default=60, help="pairs of projects in the corpus that is made")
    parser.add_argument("--record", action="store_true", help="add the ratios to bench/history.csv")
    parser.add_argument("--profile", action="store_true", help="show the share of each stage instead")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the seconds of each stage to a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="npulint-bench-") as name:
        work = Path(name)
        if options.directory is None:
            make_corpus(work / "corpus", options.projects)
        corpus = options.directory or work / "corpus"
        if not options.profile:
            return run(corpus, work, options.runs, options.record)
        found = profile(corpus, work, options.runs)
        print(stages.as_text(found))
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        return 0


if __name__ == "__main__":
    sys.exit(main())
