"""``npulint doctor``: a sound machine is quiet, each seeded fault is named with its remedy."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import pytest

from npulint.core.errors import NpulintError
from npulint.doctor.judge import judge
from npulint.doctor.machine import Machine, Ran, run_command
from npulint.doctor.report import differences
from npulint.doctor.take import parsed, take
from npulint.hosts.cli.main import main
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.runs.read.machine.snapshot import Snapshot, decoded, encoded
from tests.doctor_support import CANN, DRIVER, HOME, LISTENER, TABLE, TOOLKIT, Change, Recorded, healthy, npu_smi

OLD = "usr/local/Ascend/ascend-toolkit/8.0.RC3"


@cache
def _catalogue() -> Catalogue:
    return load_catalogue((), whole=False)


def _taken(recorded: Recorded, folder: Path, deep: float | None = None) -> Snapshot:
    return take(recorded.written(folder), "/opt/conda/bin/python", deep)


def _found(recorded: Recorded, folder: Path, lang: str = "en", deep: float | None = None) -> list[Finding]:
    return judge(_taken(recorded, folder, deep), _catalogue(), lang)


def _without(*prefixes: str) -> Change:
    def change(one: Recorded) -> None:
        one.files = {name: text for name, text in one.files.items() if not name.startswith(prefixes)}

    return change


def _with(**files: str) -> Change:
    def change(one: Recorded) -> None:
        one.files.update(files)

    return change


def _set(**environ: str) -> Change:
    def change(one: Recorded) -> None:
        one.environ.update(environ)

    return change


def _unset(name: str) -> Change:
    return lambda one: one.environ.pop(name)


def _package(**packages: str) -> Change:
    def change(one: Recorded) -> None:
        one.packages.update(packages)
        one.packages = {name: version for name, version in one.packages.items() if version}

    return change


def _smi(code: int | None, output: str) -> Change:
    def change(one: Recorded) -> None:
        one.smi = Ran(code, output)

    return change


def _both(*changes: Change) -> Change:
    def change(one: Recorded) -> None:
        for each in changes:
            each(one)

    return change


def _attr(**values: object) -> Change:
    def change(one: Recorded) -> None:
        for name, value in values.items():
            setattr(one, name, value)

    return change


_IN_DOCKER = _with(**{".dockerenv": ""})
_EIGHT = [("910B3", "OK", 3439)] * 8


def _table(**changed: object) -> Change:
    """A rank table of two ranks on this machine, changed."""
    devices = changed.pop("devices", [("0", "0"), ("1", "1")])
    server = {
        "server_id": changed.pop("server", "10.0.0.12"),
        "device": [{"device_id": d, "device_ip": "192.168.1.8", "rank_id": r} for d, r in devices],  # type: ignore[attr-defined]
    }
    table = {"version": "1.0", "server_count": "1", "server_list": [server], "status": "completed", **changed}
    return _both(_set(RANK_TABLE_FILE="/job/ranks.json"), _with(**{"job/ranks.json": json.dumps(table)}))


FAULTS: dict[str, tuple[Change, str, str]] = {
    "driver not installed": (
        _both(_without("usr/local/Ascend/driver", "usr/local/Ascend/firmware", "dev/"), _attr(smi=None)),
        "driver-missing",
        "driver and firmware",
    ),
    "driver not loaded": (
        _smi(255, "dcmi module initialize failed. ret is -8005"),
        "npu-smi-fails",
        "restart",
    ),
    "devices used by another container": (
        _smi(
            255,
            "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"
            "dcmi model initialized failed, because the device is used. ret is -8020",
        ),
        "npu-smi-fails",
        "stop other containers",
    ),
    "npu-smi hangs": (_smi(None, ""), "npu-smi-hangs", "reset"),
    "old firmware": (
        _with(**{"usr/local/Ascend/firmware/version.info": "Version=6.4.12.1.241\n"}),
        "firmware-outside-range-of-driver",
        "firmware of the same HDK release",
    ),
    "old driver": (
        _with(
            **{
                "usr/local/Ascend/driver/version.info": DRIVER.replace("C22", "C13").replace(
                    "[V100R001C19],[V100R001C20],[V100R001C21],", ""
                )
            }
        ),
        "toolkit-unknown-to-driver",
        "Upgrade the driver",
    ),
    "no CANN": (
        _both(_without(CANN), lambda one: [one.environ.pop(n) for n in list(one.environ) if n != "HOME"]),
        "toolkit-missing",
        "Install the toolkit",
    ),
    "set_env.sh not sourced": (_unset("ASCEND_HOME_PATH"), "toolkit-not-loaded", "source /usr/local/Ascend"),
    "CANN removed": (
        _set(ASCEND_HOME_PATH="/usr/local/Ascend/ascend-toolkit/7.0.0"),
        "toolkit-folder-missing",
        "set_env.sh of an installed release",
    ),
    "two CANN in LD_LIBRARY_PATH": (
        _set(LD_LIBRARY_PATH=f"/{OLD}/lib64:{HOME}/lib64:/usr/local/Ascend/driver/lib64/driver"),
        "toolkits-mixed",
        "only one set_env.sh",
    ),
    "two CANN in PYTHONPATH": (
        _set(PYTHONPATH=f"/{OLD}/python/site-packages:{HOME}/python/site-packages"),
        "toolkits-mixed",
        "only one set_env.sh",
    ),
    "driver libraries not searched": (
        _both(_without("etc/ld.so"), _set(LD_LIBRARY_PATH=f"{HOME}/lib64")),
        "driver-libraries-not-found",
        "export LD_LIBRARY_PATH",
    ),
    "no kernels": (
        _both(_without(f"{CANN}/opp"), _with(**{f"{CANN}/opp/version.info": ""})),
        "kernels-missing",
        "compiled operators",
    ),
    "kernels of 310P": (
        _both(_without(f"{CANN}/opp"), _with(**{f"{CANN}/opp/built-in/op_impl/ai_core/tbe/kernel/ascend310p/a": ""})),
        "kernels-for-another-chip",
        "for 910B3",
    ),
    "CANN for x86": (
        _with(**{f"{CANN}/aarch64-linux/ascend_toolkit_install.info": TOOLKIT.replace("aarch64", "x86_64")}),
        "toolkit-for-another-processor",
        "linux-aarch64",
    ),
    "a device in alarm": (_smi(0, npu_smi([*_EIGHT[:7], ("910B3", "Alarm", 3439)])), "device-unhealthy", "reset"),
    "a device in a critical state": (
        _smi(0, npu_smi([("910B3", "Critical", 3439), *_EIGHT[1:]])),
        "device-unhealthy",
        "ASCEND_RT_VISIBLE_DEVICES",
    ),
    "a device with a warning": (
        _smi(0, npu_smi([("910B3", "Warning", 3439), *_EIGHT[1:]])),
        "device-with-warning",
        "npu-smi info -t health",
    ),
    "a lost device": (_smi(0, npu_smi(_EIGHT[:7])), "devices-missing", "dmesg"),
    "a job on a device": (
        _smi(
            0,
            npu_smi(
                [("910B3", "OK", 58472), *_EIGHT[1:]],
                "| 0       0                 | 19341         | VLLMWorker_TP            | 55033                   |\n",
            ),
        ),
        "device-memory-taken",
        "Stop the processes",
    ),
    "no davinci_manager": (_both(_IN_DOCKER, _without("dev/davinci_manager")), "device-file-missing", "--device"),
    "no hisi_hdc": (_both(_IN_DOCKER, _without("dev/hisi_hdc")), "device-file-missing", "--device /dev/hisi_hdc"),
    "no devmm_svm": (_both(_IN_DOCKER, _without("dev/devmm_svm")), "device-file-missing", "--device /dev/devmm_svm"),
    "no device in the container": (
        _both(_IN_DOCKER, _without(*(f"dev/davinci{n}" for n in range(8))), _smi(0, "no device")),
        "no-device-in-container",
        "--device /dev/davinci0",
    ),
    "not in the group": (_attr(refused=tuple(f"davinci{n}" for n in range(8))), "device-file-not-permitted", "usermod"),
    "shared memory of 64 MB": (_both(_IN_DOCKER, _attr(shared=64.0)), "shared-memory-small", "--shm-size"),
    "1024 open files": (_attr(open_files=1024), "few-open-files", "ulimit -n"),
    "disk full": (_attr(free=12.0), "disk-full", "ASCEND_PROCESS_LOG_PATH"),
    "a visible device too many": (
        _set(ASCEND_RT_VISIBLE_DEVICES="0,1,2,8"),
        "visible-device-missing",
        "npu-smi info",
    ),
    "port of HCCL taken": (
        _with(**{"proc/net/tcp": TABLE + LISTENER.format(port=60001)}),
        "port-of-hccl-in-use",
        "HCCL_IF_BASE_PORT",
    ),
    "port of the master taken": (
        _both(_set(MASTER_PORT="29500"), _with(**{"proc/net/tcp": TABLE + LISTENER.format(port=29500)})),
        "master-port-in-use",
        "MASTER_PORT",
    ),
    "no such interface": (_set(HCCL_SOCKET_IFNAME="eth0"), "network-interface-missing", "ip -br addr"),
    "address of another machine": (_set(HCCL_IF_IP="10.0.0.11"), "address-of-another-machine", "HCCL_SOCKET_IFNAME"),
    "own name is loopback": (
        _both(_set(MASTER_ADDR="node-1", NNODES="2"), _with(**{"etc/hosts": "127.0.1.1 node-1\n"})),
        "master-name-is-loopback",
        "/etc/hosts",
    ),
    "no rank table": (_set(RANK_TABLE_FILE="/job/none.json"), "rank-table-unreadable", "unset RANK_TABLE_FILE"),
    "broken rank table": (
        _both(_set(RANK_TABLE_FILE="/job/r.json"), _with(**{"job/r.json": "{"})),
        "rank-table-unreadable",
        "server_list",
    ),
    "unfinished rank table": (_table(status="initializing"), "rank-table-unfinished", "Wait"),
    "a rank twice": (_table(devices=[("0", "0"), ("1", "0")]), "rank-table-contradictory", "Generate"),
    "a device that does not exist": (_table(devices=[("0", "0"), ("9", "1")]), "rank-table-contradictory", "Generate"),
    "rank table of another cluster": (_table(server="10.9.9.9"), "rank-table-of-other-machines", "Generate"),
    "torch without torch_npu": (_package(torch_npu=""), "torch-npu-not-installed", "npulint versions"),
    "torch for CUDA": (
        _package(torch="2.7.1", nvidia_cublas_cu12="12.6.4.1"),
        "cuda-build-installed",
        "CPU build",
    ),
    "decorator missing": (_package(decorator=""), "packages-of-toolkit-missing", "pip install decorator"),
    "NNAL not sourced": (_package(vllm_ascend="0.11.0"), "nnal-missing", "nnal/atb/set_env.sh"),
    "torch_npu of another torch": (_package(torch="2.5.1+cpu"), "torch-npu-version-mismatch", "torch"),
    "torchvision of another torch": (_package(torchvision="0.20.1"), "packages-of-different-releases", "torchvision"),
    "torch_npu of another CANN": (
        _package(torch="2.9.0+cpu", torch_npu="2.9.0.post2", torchvision="0.24.0"),
        "torch-npu-for-another-cann",
        "CANN",
    ),
    "a value out of range": (_set(TASK_QUEUE_ENABLE="5"), "environment-value-out-of-range", "TASK_QUEUE_ENABLE"),
    "a misspelt variable": (_set(HCCL_CONNECT_TIMEOU="600"), "misspelt-environment-variable", "HCCL_CONNECT_TIMEOUT"),
    "launch blocking": (_set(ASCEND_LAUNCH_BLOCKING="1"), "launch-blocking-left-on", "ASCEND_LAUNCH_BLOCKING"),
    "obsolete operators folder": (_set(ASCEND_OPP_PATH="/old/opp"), "folder-in-variable-missing", "set_env.sh"),
}


def test_a_sound_machine_is_quiet(tmp_path: Path) -> None:
    snapshot = _taken(healthy(), tmp_path)
    assert [one.message for one in judge(snapshot, _catalogue(), "en")] == []
    assert snapshot.chip == "910B3" and len(snapshot.devices or ()) == 8
    assert snapshot.toolkits and snapshot.toolkits[0].active and snapshot.toolkits[0].kernels == ["ascend910b"]
    assert snapshot.python and snapshot.python.packages and snapshot.python.packages["torch-npu"] == "2.7.1"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_remedy(fault: str, tmp_path: Path) -> None:
    change, name, remedy = FAULTS[fault]
    recorded = healthy()
    change(recorded)
    found = {one.name: one for one in _found(recorded, tmp_path)}
    assert name in found, sorted(found)
    assert remedy in found[name].fix.text + found[name].message
    others = {one for one in found if one != name}
    assert len(others) <= 1, others  # what follows from the fault, no more


def test_an_operator_is_run_only_when_asked(tmp_path: Path) -> None:
    failing = healthy()
    failing.operator = Ran(
        1, "Traceback (most recent call last):\nImportError: libhccl.so: cannot open shared object\n"
    )
    assert _found(failing, tmp_path / "a") == []
    assert [one.name for one in _found(failing, tmp_path / "b", deep=60.0)] == ["operator-fails"]
    sound = healthy()
    sound.operator = Ran(0, "sum 16.0\n")
    assert _found(sound, tmp_path / "c", deep=60.0) == []


def test_a_container_shows_only_what_it_was_given(tmp_path: Path) -> None:
    """Some devices of the host, no firmware, no table of packages: all of it is normal."""
    one = healthy()
    _both(_IN_DOCKER, _without("usr/local/Ascend/firmware", *(f"dev/davinci{n}" for n in (0, 1, 2, 5, 6, 7))))(one)
    one.smi = Ran(0, npu_smi(_EIGHT[:2]))
    assert _found(one, tmp_path) == []


def test_a_machine_without_npus_has_nothing_to_say(tmp_path: Path) -> None:
    bare = Recorded(
        {"etc/hostname": "laptop\n"}, {"HOME": "/root"}, {"torch": "2.7.1"}, None, shared=64, open_files=256
    )
    assert _found(bare, tmp_path) == []


def test_latest_means_the_release_behind_its_links(tmp_path: Path) -> None:
    one = healthy()
    one.environ["ASCEND_HOME_PATH"] = "/usr/local/Ascend/ascend-toolkit/latest"
    machine = one.written(tmp_path)
    latest = tmp_path / "usr/local/Ascend/ascend-toolkit/latest"
    latest.mkdir()
    for part in ("runtime", "opp"):
        (latest / part).symlink_to(f"../8.2.RC1/{part}")
    toolkits = take(machine, "/opt/python").toolkits
    assert [(found.version, found.active) for found in toolkits or ()] == [("8.2.RC1", True)]


def test_devices_with_two_chips_and_of_other_products() -> None:
    two = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 6     Ascend910           | OK            | 168.7       36                0    / 0             |
| 0     12                  | 0000:85:00.0  | 0           0    / 0          3120 / 65536         |
+------------------------------------------------------------------------------------------------+
| 6     Ascend910           | OK            | -           36                0    / 0             |
| 1     13                  | 0000:87:00.0  | 0           0    / 0          2891 / 65536         |
"""
    assert [(one.npu, one.chip, one.memory_used_mb) for one in parsed(two)] == [(6, 0, 3120), (6, 1, 2891)]
    inference = """\
| 8       310P3             | OK              | NA           54                0     / 0            |
| 0       0                 | 0000:01:00.0    | 0            1851 / 21527                            |
"""
    assert [(one.name, one.memory_used_mb, one.memory_mb) for one in parsed(inference)] == [("310P3", 1851, 21527)]


def test_two_machines_are_compared(tmp_path: Path) -> None:
    other = healthy()
    other.packages["torch_npu"] = "2.7.1.post2"
    other.files["proc/sys/kernel/hostname"] = "node-2\n"
    one, two = _taken(healthy(), tmp_path / "a"), _taken(other, tmp_path / "b")
    assert [(each.part, each.there) for each in differences(one, two)] == [("python.packages.torch-npu", "2.7.1.post2")]
    assert differences(one, decoded(encoded(one).encode())) == []


def test_a_command_is_stopped_and_a_missing_one_is_absent(tmp_path: Path) -> None:
    assert run_command([sys.executable, "-c", "import time; time.sleep(9)"], 0.1) == Ran(None)
    assert run_command([str(tmp_path / "none")], 1.0) is None
    with pytest.raises(NpulintError):
        take(Machine(environ={}, root=str(tmp_path), run=lambda words, limit: None), "/no/python")


@pytest.mark.parametrize("shape", ["text", "json", "markdown", "html"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_snapshot_is_judged_elsewhere(
    shape: str, lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = healthy()
    recorded.environ.pop("ASCEND_HOME_PATH")
    path = tmp_path / "node-1.json"
    path.write_text(encoded(_taken(recorded, tmp_path / "root")), encoding="utf-8")
    assert main(["doctor", str(path), "--format", shape, "--lang", lang, "--compare", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "NPU8107" in printed and "set_env.sh" in printed
    if shape == "json":
        assert json.loads(printed)["differences"] == []


def test_this_machine_is_examined_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "here.json"
    main(["doctor", "--dump", str(path), "--lang", "en"])
    assert decoded(path.read_bytes()).host is not None
    assert "Python" in capsys.readouterr().out
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    assert main(["doctor", str(tmp_path / "other.json")]) == 2
    assert main(["doctor", str(tmp_path / "none.json")]) == 2


def test_the_page_shows_every_toolkit_and_needs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = healthy()
    recorded.files[f"{OLD}/aarch64-linux/ascend_toolkit_install.info"] = TOOLKIT.replace("8.2.RC1", "8.0.RC3")
    recorded.files["proc/meminfo"] = "HugePages_Total:       512\n"
    recorded.files["etc/os-release"] = 'PRETTY_NAME="<b>openEuler</b>\x1b[2J"\n'
    here, other, page = tmp_path / "1.json", tmp_path / "2.json", tmp_path / "page.html"
    here.write_text(encoded(_taken(recorded, tmp_path / "root")), encoding="utf-8")
    other.write_text(encoded(_taken(healthy(), tmp_path / "other")), encoding="utf-8")
    words = ["doctor", str(here), "--compare", str(other), "--lang", "en", "--output", f"html={page}"]
    assert main([*words, "--output", f"json={tmp_path / 'report.json'}"]) == 0
    printed, text = capsys.readouterr().out, page.read_text(encoding="utf-8")
    assert printed.startswith("Machine") and "512 huge pages" in printed
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["findings"] == []
    assert text.count("<td>in use</td>") == 1 and "8.0.RC3" in text and "512 huge pages" in text
    assert "<b>openEuler" not in text and "\x1b" not in text and " src=" not in text
    assert '<section id="differences"' in text and "host.hugepages" in text and ">Ready<" in text


def test_other_formats_of_the_report_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--output", f"sarif={tmp_path / 'x'}", "--lang", "en"]) == 2
    assert "--output" in capsys.readouterr().err and not (tmp_path / "x").exists()
