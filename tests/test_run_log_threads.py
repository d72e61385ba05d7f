"""Failures as users report them: short logs in the shape of real ones, and the one cause that each is told for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.settings import Settings
from npulint.runs.read.logs import read

PTA = "[ERROR] 2025-03-08-10:10:10 (PID:12, Device:0, RankID:0) ERR00100 PTA call acl api failed.\n"
DIST = "[ERROR] 2025-03-08-10:10:10 (PID:12, Device:0, RankID:0) ERR02200 DIST call hccl api failed.\n"
SYNC = "RuntimeError: synchronize: NPU function error: AclrtSynchronizeStreamWithTimeout(stream), error code is {}\n"
COMM = (
    "RuntimeError: create_config: HCCL function error: hcclCommInitRootInfoConfig(n, &rootInfo, 0), error code is {}\n"
)
SENT = "[ERROR] aclrtSynchronizeStream(stream) failed: {} (main.cpp:92)\nEZ9999: Inner Error!\n"
INFO = "       The extend info: errcode:(0x800000, 0, 0) errorStr: {}. fixp_error0 info: 0x1, subErrType:4.\n"

LOGS = {
    "tiling refuses the lengths": (
        SYNC.format(561002) + PTA + "E89999: Inner Error!\nE89999[PID: 12] (E89999):  queryT(8) must be equal\n",
        ["interface-argument-rejected"],
    ),
    "type refused by aclnn": (
        SYNC.format(161002) + PTA + "[PID: 12] AclNN_Parameter_Error(EZ1001): mat2 dtype DT_FLOAT not support\n",
        ["interface-argument-rejected"],
    ),
    "no binary": (
        "EZ9999: Op Cast does not has any binary.\n        launch failed for Cast, errno:561000.\n",
        ["releases-do-not-match"],
    ),
    "kernel writes out of its memory": (INFO.format("The DDR address is out of range"), ["kernel-raised-exception"]),
    "core error in a process log": (
        "Custom hand error, detail:AclNN_Runtime_Error(EZ9903): Assert failed\n"
        "        there is an exception of fftsplus aivector error, core id is 34, error code = 0x800000\n",
        ["kernel-raised-exception"],
    ),
    "exception without torch_npu": (SENT.format(507035), ["kernel-raised-exception"]),
    "timeout without torch_npu": (
        SENT.format(507014) + INFO.format("timeout or trap error"),
        ["kernel-did-not-end"],
    ),
    "wait for the device": (SYNC.format(507046) + PTA, ["kernel-did-not-end"]),
    "wait for the device because of a peer": (
        SYNC.format(107020) + "EI0002: The wait execution of the Notify register times out.\n",
        ["rank-waited-in-vain"],
    ),
    "collective timed out": (
        "[W NPUStream.cpp:382] Warning: NPU warning, error code is 107020[Error]: .\nEE9999: Inner Error!\n"
        "EE9999  fftsplus task execute failed, dev_id=7, err_type=13[hccl fftsplus timeout]\n",
        ["rank-waited-in-vain"],
    ),
    "communicator timed out": (COMM.format(9) + DIST, ["rank-waited-in-vain"]),
    "communicator cannot connect": (COMM.format(11) + DIST, ["link-failed"]),
    "communicator finds its port taken": (
        COMM.format(11) + DIST + "EJ0003: [PID: 12] Failed to bind the IP port.\n",
        ["port-taken"],
    ),
    "communicator fails without a reason": (COMM.format(4) + DIST, ["internal-error-only"]),
    "transport to a peer": (DIST + "EI0009: [PID: 12] Transport init error.\n", ["rank-waited-in-vain"]),
    "copy inside the card": (
        SYNC.format(507001) + "EI9999: [PID: 12] Memory async copy failed, device_id=0\n",
        ["link-failed"],
    ),
    "device taken, memory gone": (
        "[ERROR] aclrtSetDevice(deviceId) failed: 507033 (main.cpp:72)\n"
        "[PID: 12] 2026-03-24-12:14:45.885.234 Memory_Allocation_Failure(EL0004): Failed to allocate memory.\n",
        ["device-memory-used-up"],
    ),
    "exception on the AI CPU": (
        "RuntimeError: ACL stream synchronize failed, error code:507018\n" + PTA + "E39999: Inner Error!\n",
        ["ai-cpu-operator-failed"],
    ),
    "exception on the AI CPU while it waits for data": (
        SYNC.format(507018) + "E30008: AI CPU operator execution time out.\n",
        ["data-not-in-time"],
    ),
    "exception of a kernel in another spelling": (
        "RuntimeError: Worker failed with error 'ACL stream synchronize failed, error code:507015', torch_npu\n",
        ["kernel-raised-exception"],
    ),
    "graph that copies to the host": (
        "RuntimeError: NPU function error: AclmdlRIExecuteAsync, error code is 107030\n" + PTA,
        ["capture-of-graph-failed"],
    ),
    "no streams for graphs": (
        "RuntimeError: NPU function error: c10_npu::acl::AclmdlRICaptureBegin(s, m), error code is 207005\n" + PTA,
        ["streams-used-up"],
    ),
    "two ranks on a card": (COMM.format(7) + DIST, ["ranks-share-a-device"]),
    "memory fault": (SYNC.format(507054) + PTA, ["device-faulty"]),
    "fault on another card": (SYNC.format(507057) + PTA, ["remote-device-failed"]),
    "documented code without a story": ("E62301: [PID: 12] x is wrong\n", ["specification-of-operator-violated"]),
    "option of ATC": ("ATC start working now\nE10014: Value [x] is invalid.\n", ["option-rejected"]),
    "device hidden": (
        SYNC.format(507033) + PTA + "EL0003: [PID: 12] The argument is invalid.\n",
        ["device-not-chosen"],
    ),
    "device number beyond the visible ones": (
        "[ERROR] RUNTIME(42,python):2025-11-18-09:33:13.673.818 [api_error.cc:2350]58 SetDevice:Set visible device "
        "failed, invalid device=0, input visible devices:4\n"
        "[ERROR] RUNTIME(42,python):2025-11-18-09:33:13.673.869 [x.cc:92]58 rtSetDevice:ErrCode=107001, desc=[]\n",
        ["device-not-chosen"],
    ),
    "operator compiled online": (
        "RuntimeError: InnerRun:x.ts:218 OPS function error: Conv3D, error code is 500002\n"
        "[ERROR] 2025-03-08-10:10:10 (PID:12, Device:0, RankID:0) ERR01100 OPS call acl api failed\n",
        ["kernel-not-built"],
    ),
    "compiler did not start": (
        "EH9999: Inner Error!\nEH9999  [Init][Env]init env failed![FUNC:ReportInnerError]\n"
        "        build op model failed, result = 500001[FUNC:ReportInnerError]\n",
        ["toolkit-not-found"],
    ),
    "python too new": (
        SYNC.format(500002) + "E40024: Failed call Python Func [get_binfile], Reason[SystemError: PY_SSIZE_T_CLEAN "
        "macro must be defined for '#' formats\n",
        ["releases-do-not-match"],
    ),
    "message inside of JSON": (
        '{"detail":"SetDevice, error code is 507033\\n[ERROR] ERR00100 PTA call acl api failed\\nE30006: Failed to '
        'verify the OPP\\n  Possible Cause: 1."}\n',
        ["releases-do-not-match"],
    ),
    "library of the driver": ("ImportError: libascend_hal.so: cannot open shared object file\n", ["toolkit-not-found"]),
    "library of torch_npu": (
        "ImportError: libtorch_npu.so: cannot open shared object file\n"
        "RuntimeError: Failed to load the backend extension: torch_npu.\n",
        ["torch-npu-not-loaded"],
    ),
    "environment not loaded": (
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
        "RuntimeError: Failed to load the backend extension: torch_npu.\n",
        ["toolkit-not-found"],
    ),
    "mmcv for another device": (
        "RuntimeError: nms_impl: implementation for device npu:0 not found.\n",
        ["extension-without-npu-operators"],
    ),
    "nccl on an NPU": (
        "[INFO] [real_accelerator.py:222:get_accelerator] Setting ds_accelerator to npu (auto detect)\n"
        "[rank0]: RuntimeError: Distributed package doesn't have NCCL built in\n",
        ["cuda-called"],
    ),
    "nccl elsewhere": ("RuntimeError: Distributed package doesn't have NCCL built in\n", ["run-failed"]),
    "rendezvous": (
        "INFO torch_npu is loaded\n[E331 20:50:12.68 socket.cpp:1011] [c10d] The client socket has timed out after "
        "1800000ms while trying to connect to (10.0.0.2, 38321)\n",
        ["rank-waited-in-vain"],
    ),
    "rendezvous tries IPv6 first": (
        "INFO torch_npu is loaded\n[W socket.cpp:601] [c10d] The client socket has failed to connect to "
        "[localhost]:29500 (errno: 97 - Address family not supported by protocol).\n",
        [],
    ),
    "transfer tells what it replaced": (
        "/usr/lib/python3.11/site-packages/torch_npu/contrib/transfer_to_npu.py:347: ImportWarning:\n"
        "    The torch.cuda.DoubleTensor is replaced with torch.npu.FloatTensor cause the double type is not known\n",
        [],
    ),
}


def test_all_operators_without_a_parser_are_named(tmp_path: Path) -> None:
    line = "No parser is registered for Op [/net/{0}_1, optype [ai.onnx::11::{0}]].\n"
    more = "".join("        " + line.format(name) for name in ("TomeMerged", "TomeUnmerge", "FindMax"))
    text = (
        "ATC start working now\nE19010: "
        + line.format("FindMax")
        + "        TraceBack (most recent call last):\n"
        + more
    )
    (tmp_path / "atc.log").write_text(text, encoding="utf-8")
    (one,) = run(Settings(paths=(str(tmp_path / "atc.log"),), cache=False, select=("NPU51",))).findings
    assert one.name == "model-operator-without-parser"
    assert "FindMax, TomeMerged, TomeUnmerge" in one.message
    assert "opset_version" in one.fix.text


def test_an_operator_that_was_not_compiled_is_named(tmp_path: Path) -> None:
    text = "E20001: Operator [net/conv1/Conv2D] compilation failed. Optype is [Conv2D].\n"
    (tmp_path / "train.log").write_text(text, encoding="utf-8")
    (one,) = run(Settings(paths=(str(tmp_path / "train.log"),), cache=False, select=("NPU51",))).findings
    assert "Concerned: net/conv1/Conv2D." in one.message


@pytest.mark.parametrize("name", LOGS)
def test_a_failure_is_told_once_for_its_cause(name: str, tmp_path: Path) -> None:
    text, expected = LOGS[name]
    (tmp_path / "train.log").write_text(text, encoding="utf-8")
    findings = run(Settings(paths=(str(tmp_path / "train.log"),), cache=False, select=("NPU51",))).findings
    assert [one.name for one in findings if one.severity != "note"] == expected


def test_the_next_line_explains_a_code_that_says_no_more() -> None:
    text = "E90003: Compile operator failed\n  bfloat16 of transdata is not supported.\n  optype: [TransData]\nnext\n"
    (event,) = (one for one in read(io.BytesIO(text.encode()), "train.log") if one.kind == "run_event")
    assert event.get("quote").endswith(" … bfloat16 of transdata is not supported.")


def test_the_operator_that_was_not_built_is_named() -> None:
    text = "Failure_to_Compile_Op(E40021): Failed to compile Op [trans_Cast_2,]. (oppath: [Compile cast.py failed\n"
    (event,) = (one for one in read(io.BytesIO(text.encode()), "train.log") if one.kind == "run_event")
    assert event.get("subjects") == "trans_Cast_2"


def test_the_words_of_cann_are_quoted_rather_than_the_wrapper() -> None:
    text = f"{PTA}[PID: 12] Invalid_Argument(EE1001): The argument is invalid.Reason: Memory async failed\n"
    (lead,) = (
        one
        for one in read(io.BytesIO(text.encode()), "train.log")
        if one.kind == "run_event" and one.get("leads") == "yes"
    )
    assert (lead.name, lead.span.line, lead.get("total")) == ("EE1001", 2, 2)


@pytest.mark.parametrize("source", ["", "[rank0]: ", "(WorkerDict pid=12, ip=10.0.0.2) "])
def test_what_stands_below_a_code_is_read_behind_the_rank_that_prints_it(source: str) -> None:
    lines = (
        "EE9999: Inner Error!",
        "        TraceBack (most recent call last):",
        "        rtX failed, reason=[device id error]",
    )
    text = "".join(f"{source}{line}\n" for line in lines)
    (event,) = (one for one in read(io.BytesIO(text.encode()), "train.log") if one.kind == "run_event")
    assert event.get("quote").endswith(" … rtX failed, reason=[device id error]")
