"""A recorded machine for tests of ``npulint doctor``: a file tree and the output of commands, in their real shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from npulint.doctor.machine import Machine, Ran

RULE = "+---------------------------+---------------+----------------------------------------------------+\n"
DOUBLE = RULE.replace("-", "=")
CANN = "usr/local/Ascend/ascend-toolkit/8.2.RC1"
HOME = f"/{CANN}"
DRIVER = """\
Version=25.2.0
ascendhal_version=7.35.23
aicpu_version=1.0
tdt_version=1.0
log_version=1.0
prof_version=2.0
dvppkernels_version=1.1
tsfw_version=1.0
Innerversion=V100R001C22SPC002B220
compatible_version=[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C22]
compatible_version_fw=[7.0.0,8.9.9]
package_version=25.2.0
"""
FIRMWARE = """\
Version=7.7.0.6.236
firmware_version=1.0
package_version=25.2.0
compatible_version_drv=[23.0.0,23.0.0.],[24.0,24.0.]
"""
TOOLKIT = """\
package_name=Ascend-cann-toolkit
version=8.2.RC1
innerversion=V100R001C22SPC001B231
compatible_version=[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C23]
arch=aarch64
os=linux
path=/usr/local/Ascend/ascend-toolkit/8.2.RC1/aarch64-linux
"""
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31337 1
   1: 0C00000A:9C40 0D00000A:0016 01 00000000:00000000 00:00000000 00000000     0        0 31338 1
"""
LISTENER = "   2: 00000000:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31339 1\n"
ADDRESSES = """\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 10.0.0.12
        /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
"""
PACKAGES = {
    "torch": "2.7.1+cpu",
    "torch_npu": "2.7.1",
    "torchvision": "0.22.1",
    "numpy": "1.26.4",
    "decorator": "5.1.1",
    "attrs": "25.1.0",
    "psutil": "7.0.0",
    "scipy": "1.13.1",
    "PyYAML": "6.0.2",
}


def npu_smi(devices: Sequence[tuple[str, str, int]] = (("910B3", "OK", 3439),) * 8, processes: str = "") -> str:
    """The table of ``npu-smi info`` for devices (name, health, used memory)."""
    lines = [
        "+------------------------------------------------------------------------------------------------+\n",
        "| npu-smi 25.2.0                   Version: 25.2.0                                               |\n",
        RULE,
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n",
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n",
        DOUBLE,
    ]
    for number, (name, health, used) in enumerate(devices):
        lines += [
            f"| {number}     {name:<20}| {health:<14}| 91.3        36                0    / 0             |\n",
            f"| 0                         | 0000:C{number}:00.0 | 0       0    / 0     {used:>9} / 65536         |\n",
            DOUBLE,
        ]
    head = "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n"
    none = "| No running processes found in NPU 0                                                            |\n"
    return "".join([*lines, RULE, head, DOUBLE, processes or none, DOUBLE])


class Recorded(msgspec.Struct):
    """A machine that tests may change before it is examined."""

    files: dict[str, str]
    environ: dict[str, str]
    packages: dict[str, str]
    smi: Ran | None
    operator: Ran | None = None
    arch: str = "aarch64"
    shared: float = 65536.0
    free: float = 512000.0
    open_files: int = 65536
    refused: tuple[str, ...] = ()

    def written(self, folder: Path) -> Machine:
        """The machine with its files below a folder, without links and devices: plain files stand for these."""
        for name, text in self.files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        site = folder / "site-packages"
        for name, version in self.packages.items():
            (site / f"{name}-{version}.dist-info").mkdir(parents=True)

        def run(words: Sequence[str], limit: float) -> Ran | None:
            if words[-1] == "info":
                return self.smi
            if "torch_npu" in words[-1]:
                return self.operator
            return Ran(0, f'["3.11.6", ["{site}"]]\n')

        def space(path: str) -> tuple[float, float] | None:
            return (self.shared, self.shared) if path.endswith("/dev/shm") else (1e6, self.free)

        def usable(path: str) -> bool:
            return not path.endswith(self.refused) if self.refused else True

        return Machine(
            environ=self.environ,
            root=str(folder),
            run=run,
            arch=self.arch,
            space=space,
            usable=usable,
            open_files=lambda: self.open_files,
        )


def healthy() -> Recorded:
    """An Atlas 800T A2 with eight devices on which trainings run every day."""
    files: dict[str, str] = {
        "etc/ascend_install.info": "Driver_Install_Path_Param=/usr/local/Ascend\nUserGroup=HwHiAiUser\n",
        "etc/os-release": 'NAME="openEuler"\nPRETTY_NAME="openEuler 22.03 LTS"\n',
        "etc/hosts": "127.0.0.1 localhost\n10.0.0.12 node-1\n",
        "etc/ld.so.conf.d/ascend.conf": "/usr/local/Ascend/driver/lib64/driver\n",
        "proc/sys/kernel/hostname": "node-1\n",
        "proc/meminfo": "MemTotal:       2113400000 kB\nHugePages_Total:       0\n",
        "proc/net/tcp": TABLE,
        "proc/net/fib_trie": ADDRESSES,
        "sys/class/net/lo/mtu": "65536\n",
        "sys/class/net/enp67s0f5/mtu": "1500\n",
        "usr/local/Ascend/driver/version.info": DRIVER,
        "usr/local/Ascend/driver/lib64/driver/libascend_hal.so": "",
        "usr/local/Ascend/firmware/version.info": FIRMWARE,
        f"{CANN}/aarch64-linux/ascend_toolkit_install.info": TOOLKIT,
        f"{CANN}/runtime/version.info": "Version=7.7.0.1.220\n",
        f"{CANN}/opp/built-in/op_impl/ai_core/tbe/kernel/ascend910b/abs/Abs.json": "{}",
        f"{CANN}/opp/built-in/op_impl/ai_core/tbe/kernel/config/ascend910b/abs.json": "{}",
        "dev/shm/x": "",
        **{f"dev/{name}": "" for name in ("davinci_manager", "devmm_svm", "hisi_hdc")},
        **{f"dev/davinci{number}": "" for number in range(8)},
    }
    for number in range(8):
        files[f"sys/bus/pci/devices/0000:c{number}:00.0/vendor"] = "0x19e5\n"
        files[f"sys/bus/pci/devices/0000:c{number}:00.0/device"] = "0xd802\n"
    environ = {
        "HOME": "/root",
        "ASCEND_HOME_PATH": HOME,
        "ASCEND_TOOLKIT_HOME": HOME,
        "ASCEND_OPP_PATH": f"{HOME}/opp",
        "LD_LIBRARY_PATH": f"{HOME}/lib64:/usr/local/Ascend/driver/lib64/driver",
        "PYTHONPATH": f"{HOME}/python/site-packages",
    }
    return Recorded(files, environ, dict(PACKAGES), Ran(0, npu_smi()))


Change = Callable[[Recorded], Any]
