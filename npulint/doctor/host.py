"""Probes of the operating system: processor, container, limits, disks, network, environment variables."""

from __future__ import annotations

import getpass
import os
import re
import tempfile

from npulint.data.environment import is_of_npu, variable
from npulint.doctor.machine import Machine
from npulint.runs.read.machine.snapshot import Disk, Host, Network

_CGROUPS = (("kubepods", "kubernetes"), ("docker", "docker"), ("containerd", "containerd"), ("lxc", "lxc"))
_PATHS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH", "ATB_HOME_PATH")
_KEPT = re.compile(
    r"(?:ATB|MASTER|RANK|LOCAL_RANK|WORLD_SIZE|NNODES|NODE_RANK|PET|GLOO|TP|OMP_NUM|MKL_NUM|JOB_ID|DEVICE_ID|TBE"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|GE|TE|PROFILING)(?:_|$|\w*PATH|THREADS)"
)
_WRITTEN = ("HOME", "ASCEND_PROCESS_LOG_PATH", "ASCEND_CACHE_PATH", "ASCEND_WORK_PATH")
_LISTENS = "0A"
_LOCAL = re.compile(r"\|-- ([\d.]+)\n\s+/32 host LOCAL")


def host(machine: Machine) -> Host:
    """The operating system and its limits."""
    shared = machine.space(machine.at("/dev/shm"))
    memory = re.search(r"MemTotal:\s+(\d+)", machine.read("/proc/meminfo") or "")
    hugepages = re.search(r"HugePages_Total:\s+(\d+)", machine.read("/proc/meminfo") or "")
    release = re.search(r'(?m)^PRETTY_NAME="?([^"\n]+)', machine.read("/etc/os-release") or "")
    cpus = len(re.findall(r"(?m)^processor\s*:", machine.read("/proc/cpuinfo") or ""))
    return Host(
        name=name_of(machine),
        arch=machine.arch,
        system=release.group(1) if release else "",
        container=container(machine),
        cpus=cpus or None,
        memory_gb=round(int(memory.group(1)) / (1 << 20), 1) if memory else None,
        shared_memory_mb=None if shared is None else round(shared[0]),
        open_files=machine.open_files(),
        hugepages=int(hugepages.group(1)) if hugepages else None,
        user=_user(),
        root=os.geteuid() == 0 if hasattr(os, "geteuid") else None,
    )


def name_of(machine: Machine) -> str:
    """The host name."""
    return (machine.read("/proc/sys/kernel/hostname") or machine.read("/etc/hostname") or "").strip()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may have no entry for the user
        return str(os.getuid()) if hasattr(os, "getuid") else ""


def container(machine: Machine) -> str:
    """The kind of container; empty outside of one."""
    if "KUBERNETES_SERVICE_HOST" in machine.environ:
        return "kubernetes"
    if machine.exists("/.dockerenv"):
        return "docker"
    if machine.exists("/run/.containerenv"):
        return "podman"
    groups = machine.read("/proc/1/cgroup") or ""
    return next((kind for word, kind in _CGROUPS if word in groups), "")


def disks(machine: Machine) -> list[Disk]:
    """The folders that runs write to: home, logs, caches, temporary files."""
    wanted = [machine.environ.get(name, "") for name in _WRITTEN]
    measured = []
    for path in dict.fromkeys([*wanted, machine.environ.get("TMPDIR") or tempfile.gettempdir()]):
        space = machine.space(machine.at(path)) if path.startswith("/") else None
        if space is not None:
            measured.append(Disk(path=path, free_mb=round(space[1])))
    return measured


def environment(machine: Machine) -> dict[str, str]:
    """The environment variables that concern NPUs and distributed training; no others are recorded."""
    environ = machine.environ
    return {name: environ[name] for name in sorted(environ) if variable(name) or is_of_npu(name) or _KEPT.match(name)}


def missing_paths(machine: Machine) -> dict[str, list[str]]:
    """Per variable the folders in it that do not exist."""
    paths = {}
    for name in _PATHS:
        value = machine.environ.get(name, "")
        missing = [part for part in value.split(":") if part.startswith("/") and not machine.exists(part)]
        if missing:
            paths[name] = missing
    return paths


def network(machine: Machine) -> Network:
    """Interfaces, addresses and ports on which processes listen."""
    trie = machine.read("/proc/net/fib_trie")
    names = [part for part in (machine.read("/proc/net/tcp"), machine.read("/proc/net/tcp6")) if part is not None]
    ports = {port for text in names for port in _listening(text)}
    own, hosts = name_of(machine), machine.read("/etc/hosts") or ""
    lines = (line.partition("#")[0].split() for line in hosts.splitlines())
    return Network(
        interfaces=machine.names("/sys/class/net"),
        addresses=None if trie is None else sorted(set(_LOCAL.findall(trie))),
        listening=sorted(ports) if names else None,
        own_name_at=[words[0] for words in lines if own and own in words[1:]],
    )


def _listening(text: str) -> list[int]:
    """The ports of /proc/net/tcp in state LISTEN."""
    rows = (line.split() for line in text.splitlines()[1:])
    return [int(row[1].rpartition(":")[2], 16) for row in rows if len(row) > 3 and row[3] == _LISTENS]
