"""Reports about a machine: text, Markdown, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from npulint.core.texts import count, say
from npulint.judge.findings import SEVERITIES, Finding
from npulint.report.terminal import cells, wrap
from npulint.runs.read.machine.snapshot import Host, Snapshot
from npulint.runs.read.machine.toolkits import active, for_npu

# Differences of two machines.

_OWN = frozenset(
    """host.name host.shared_memory_mb host.memory_gb network.addresses network.listening network.own_name_at
    environment.RANK environment.LOCAL_RANK environment.NODE_RANK environment.HCCL_IF_IP environment.JOB_ID
    python.path disks""".split()
)
"""What differs between machines of one job."""
_VARYING = frozenset(("memory_used_mb", "processes"))


class Difference(msgspec.Struct, frozen=True):
    """A value that differs; a dash stands for one that a machine does not have."""

    part: str
    here: str
    there: str


def differences(here: Snapshot, there: Snapshot) -> list[Difference]:
    """What differs between two machines and should not within one job, in the order of the snapshot."""
    ours, others = dict(_flat(msgspec.to_builtins(here))), dict(_flat(msgspec.to_builtins(there)))
    keys = dict.fromkeys([*ours, *others])
    pairs = ((key, ours.get(key, "-"), others.get(key, "-")) for key in keys if not _is_own(key))
    return [Difference(*pair) for pair in pairs if pair[1] != pair[2]]


def _is_own(key: str) -> bool:
    return key.rpartition(".")[2] in _VARYING or any(key == own or key.startswith(f"{own}.") for own in _OWN)


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _flat(member, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, member in enumerate(value):
            yield from _flat(member, f"{key}.{_label(member, number)}")
    else:
        yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _label(member: dict[str, Any], number: int) -> str:
    """What identifies an entry of a list: a path or number, so that both machines call it the same."""
    return str(member.get("path") or member.get("name", "") if "present" in member else member.get("path") or number)


_WIDTH = 110
_TITLE = 12  # columns
_PACKAGES = ("torch", "torch-npu", "tensorflow", "npu-device", "vllm-ascend", "mindspeed", "triton-ascend")


class Report(msgspec.Struct, frozen=True):
    """What is known of a machine, what is wrong with it, and how it differs from another one (None: not compared)."""

    snapshot: Snapshot
    findings: list[Finding]
    differences: list[Difference] | None = None


def text(report: Report, lang: str) -> str:
    """For the terminal."""
    lines = [f"{title}{' ' * (_TITLE - cells(title))}{value}" for title, value in summary(report.snapshot, lang)]
    for finding in report.findings:
        lines += ["", f"{_severity(finding, lang)} {finding.code}: {finding.message}", *_wrapped(finding.why)]
        lines += _wrapped(say(lang, "doctor.fix", text=finding.fix.text))
    lines += ["", verdict(report, lang)]
    for difference in report.differences or ():
        lines.append(f"  {difference.part}: {difference.here} | {difference.there}")
    return "\n".join(lines) + "\n"


def markdown(report: Report, lang: str) -> str:
    """For issues and documents."""
    lines = [f"- **{title}**: {value}" for title, value in summary(report.snapshot, lang)]
    for finding in report.findings:
        lines += ["", f"### {_severity(finding, lang)} {finding.code}: {finding.message}", "", finding.why, ""]
        lines.append(say(lang, "doctor.fix", text=finding.fix.text))
    lines += ["", verdict(report, lang)]
    if report.differences:
        lines += ["", say(lang, "doctor.table"), "| --- | --- | --- |"]
        lines += [
            f"| {difference.part} | {_cell(difference.here)} | {_cell(difference.there)} |"
            for difference in report.differences
        ]
    return "\n".join(lines) + "\n"


def json(report: Report) -> str:
    """For tools: the snapshot, the findings, the differences."""
    findings = [
        {
            "code": finding.code,
            "name": finding.name,
            "severity": finding.severity,
            "message": finding.message,
            "why": finding.why,
            "fix": finding.fix.text,
        }
        for finding in report.findings
    ]
    document = {"machine": report.snapshot, "findings": findings, "differences": report.differences}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _cell(value: str) -> str:
    return value.replace("|", "\\|")


def _severity(finding: Finding, lang: str) -> str:
    return say(lang, f"doctor.{finding.severity}")


def _wrapped(paragraph: str) -> list[str]:
    return [f"  {line}" for line in wrap(paragraph, _WIDTH)]


def verdict(report: Report, lang: str) -> str:
    """How many findings and differences there are, in words."""
    numbers = Counter(finding.severity for finding in report.findings)
    parts = [count(lang, f"doctor.{word}.count", numbers[word]) for word in reversed(SEVERITIES) if numbers[word]]
    said = [("" if lang == "zh" else " ").join(parts) if parts else say(lang, "doctor.sound")]
    if not for_npu(report.snapshot):
        said = [say(lang, "doctor.nothing"), *(said if parts else [])]
    if report.differences is not None:
        said.append(count(lang, "doctor.differences", len(report.differences)))
    return " ".join(said)


def summary(snapshot: Snapshot, lang: str) -> Iterator[tuple[str, str]]:
    """Titles and values of what was found."""
    host = snapshot.host
    if host is not None:
        yield say(lang, "doctor.machine"), _joined(host.name, host.arch, host.system, host.container or "")
    driver, firmware = snapshot.driver, snapshot.firmware
    if driver is not None:
        version = (driver.version or "?") if driver.installed else say(lang, "doctor.absent")
        with_it = "" if firmware is None else say(lang, "doctor.firmware", v=firmware.version)
        yield say(lang, "doctor.driver"), _joined(version, with_it)
    used = active(snapshot)
    mark = say(lang, "doctor.used")
    toolkits = [
        f"{package.version}{mark if package is used else ''} {package.path}" for package in snapshot.toolkits or ()
    ]
    yield "CANN", _joined(*toolkits) or say(lang, "doctor.absent")
    names = Counter(device.name for device in snapshot.devices or ())
    healthy = sum(device.health == "OK" for device in snapshot.devices or ())
    devices = [f"{number} x {name}" for name, number in names.items()]
    devices += [say(lang, "doctor.healthy", n=healthy)] if devices else []
    boards = [count(lang, "doctor.boards", snapshot.boards)] if snapshot.boards and not devices else []
    yield say(lang, "doctor.devices"), _joined(*devices, *boards) or say(lang, "doctor.absent")
    python = snapshot.python
    if python is not None:
        has = python.packages or {}
        yield "Python", _joined(python.version, *(f"{name} {has[name]}" for name in _PACKAGES if name in has))
    limits = _limits(snapshot, lang) if host is not None else ""
    if limits:
        yield say(lang, "doctor.limits"), limits


def _limits(snapshot: Snapshot, lang: str) -> str:
    host = snapshot.host or Host()
    shared, files, pages = host.shared_memory_mb, host.open_files, host.hugepages
    return _joined(
        "" if shared is None else say(lang, "doctor.shared", n=round(shared)),
        "" if files is None else say(lang, "doctor.files", n=files),
        "" if pages is None else count(lang, "doctor.hugepages", pages),
    )


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def worst(findings: Sequence[Finding]) -> str:
    """The highest severity; empty without findings."""
    return max((finding.severity for finding in findings), key=SEVERITIES.index, default="")
