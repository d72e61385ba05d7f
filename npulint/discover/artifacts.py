"""Recognizes artifacts of training runs by file name and first bytes."""

from __future__ import annotations

import codecs
import os
import zlib

from npulint.core.lazy_regex import lazy_compile
from npulint.data.run_columns import form_of_header, plain
from npulint.discover.graphs import HEAD
from npulint.discover.safe_open import read_head

# PROF_<number>_<time>_<letters>, often shortened by hand; JOB<letters> until 2020
_FOLDER = lazy_compile(
    r"PROF_[\w-]+|JOB[A-Z]{12,64}|.+_ascend_(?:pt|ms)|ASCEND_PROFILER_OUTPUT|mindstudio_profiler_(?:output|log)"
    r"|OPPROF_\w+|cluster_analysis_output|precision_data|plog|info_\d{14}|aicerror_\d+_\d{14}"
)
_BINARY_IN_FOLDER = frozenset(("FRAMEWORK", "sqlite", "hash_dic", "data", "dump"))
_RAW = lazy_compile(r"(?:OP)?PROF_[\w-]+|JOB[A-Z]{12,64}|.+_ascend_(?:pt|ms)|(?:host|device_\d+)")
_EXPORTS = frozenset(("summary", "timeline"))
_SIDE = lazy_compile(r"host|device_\d{1,4}")

_SWITCHES = lazy_compile(
    r"(?:[\w.-]{0,80}[_.-])?fusion[-_]?(?:switch(?:es)?|off)(?:[-_.\d][\w.-]{0,80})?\.(?:cfg|json)"
)
_NAMES = (
    ("kernel_table", lazy_compile(r"op_summary\w*\.csv|kernel_details\w*\.csv")),
    ("op_statistic", lazy_compile(r"op_statistic\w*\.csv")),
    ("api_statistic", lazy_compile(r"api_statistic\w*\.csv")),
    ("cluster_step_trace_time", lazy_compile(r"cluster_step_trace_time\.csv")),
    ("step_trace_time", lazy_compile(r"step_trace_time\.csv")),
    ("step_trace", lazy_compile(r"step_trace_\w*\.csv")),
    ("training_trace", lazy_compile(r"training_trace[\w.]*")),
    ("operator_details", lazy_compile(r"operator_details\.csv")),
    ("aicpu", lazy_compile(r"aicpu_\w*\.csv")),
    ("fusion_op", lazy_compile(r"fusion_op_\w*\.csv")),
    ("comparison", lazy_compile(r"result_\d+\.(?:csv|xlsx)|(?:compare_)?result_\w+\.(?:csv|xlsx)")),
    ("comparison", lazy_compile(r"(?:performance_comparison_result|mstt_advisor)\w*\.xlsx")),
    ("comparison_advice", lazy_compile(r"advisor\w*\.txt")),
    ("trace", lazy_compile(r"trace_view\.json|(?:msprof|task_time|hccl|ge|acl)_[\d_]+\.json")),
    ("communication_matrix", lazy_compile(r"(?:cluster_)?communication_matrix\.json")),
    ("communication_group", lazy_compile(r"communication_group\.json")),
    ("communication", lazy_compile(r"(?:cluster_)?communication\.json")),
    ("profiler_info", lazy_compile(r"profiler_info(?:_\d+)?\.json")),
    ("profiler_metadata", lazy_compile(r"profiler_metadata\.json")),
    ("fusion_result", lazy_compile(r"fusion_result\w*\.json")),
    ("fusion_switch", _SWITCHES),
    ("statistics_dump", lazy_compile(r"dump\.json")),
    ("anomaly", lazy_compile(r"anomaly_(?:analyze|detected)\w*\.json")),
    ("overflow_dump", lazy_compile(r"Opdebug\.Node_OpDebug\.[\d.]+")),
    ("rank_table", lazy_compile(r"(?:rank_?table\w*|hccl_\d+p\w*|jobstart_hccl)\.json")),
    ("log", lazy_compile(r".*(?:\.log(?:\.\d+)?|[-_]stdout\.\w+)|nohup\.out|\w*log\.out|(?:\w+_)?log(?:_\w+)?\.txt")),
    ("log", lazy_compile(r"npu_info_\w+\.txt")),
    ("log", lazy_compile(r"(?:.*-proc-)?(?:rank|worker)[-_]\d+[\w.-]*\.txt|messages[\w.-]*|[\w-]*dmesg[\w-]*\.txt")),
)
_NUMBERED = lazy_compile(r"(?:info|sample)\.json\.\d{1,4}")
_EVENTS = lazy_compile(r".*\bevents\.out\.tfevents\.\d+.*")
_DATABASE = lazy_compile(r"(?:ascend_(?:pytorch|mindspore)_profiler|msprof|analysis|cluster_analysis|ge_info)\w*\.db")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SQLITE = b"SQLite format 3\0"
_TENSOR = lazy_compile(r".+\.\d+(?:\.\d+)?\.\d{13,}(?:\.(?:input|output)\.\d+\.npy)?")

_JSON = (
    ("fusion_result", lazy_compile(rb'"(?:graph|ub)_fusion"\s*:|"(?:match|effect)_times"\s*:')),
    ("fusion_switch", lazy_compile(rb'"(?:Graph|UB)Fusion"\s*:\s*\{')),
    ("overflow", lazy_compile(rb'"(?:AI Core|L2 Atomic Add|DHA Atomic Add|acc_list)"\s*:')),
    ("trace", lazy_compile(rb'"ph"\s*:\s*"')),
    ("communication", lazy_compile(rb'"Communication (?:Time|Bandwidth) Info"\s*:')),
    ("communication_matrix", lazy_compile(rb'"Transport Type"\s*:')),
    ("profiler_metadata", lazy_compile(rb'"ENV_VARIABLES"\s*:')),
    ("profiler_info", lazy_compile(rb'"_?profiler_level"\s*:|"ProfilerActivity\.NPU"')),
    ("device_info", lazy_compile(rb'"(?:ai_core_num|DeviceInfo)"\s*:')),
    ("sample_info", lazy_compile(rb'"ai_core_profiling(?:_mode)?"\s*:')),
    ("statistics_dump", lazy_compile(rb'"dump_data_dir"\s*:')),
    ("construct", lazy_compile(rb'"\w+(?:\.\w+)+\.\d+\.(?:forward|backward)"\s*:\s*(?:"|null)')),
    ("machine", lazy_compile(rb'"npulint_machine"\s*:')),
    ("rank_table", lazy_compile(rb'"(?:server_list|group_list)"\s*:')),
)
_CONSOLE = lazy_compile(rb"\[Status:\d+\]\s*\[TaskId:|\bPrecisionTool > |\xe2\x95\xad(?:\xe2\x94\x80){1,99} \[\d+\] \S")
_TEXTS = (
    ("trace_summary", lazy_compile(rb"(?:\A|\n)(?:FP_BP|bpend_iter): \d")),
    ("training_trace", lazy_compile(rb"(?:\A|\n)[\w.]*\bFP_start\s*=\s*\d")),
    ("log", lazy_compile(rb"\[(?:TRACE|DEBUG|INFO|WARNING|ERROR|EVENT)\] \w+\(\d+,[^)\n]*\):\d{4}-\d\d-\d\d")),  # CANN
    ("log", lazy_compile(rb"\d{4}-\d\d-\d\d[ T-]\d\d:\d\d:\d\d[.,]\d+:? ?[:\[|]? ?(?:[IWEF]\b|INFO|WARN|ERROR|DEBUG)")),
    ("log", lazy_compile(rb"(?:\A|\n)(?:WARNING|INFO|ERROR):\w+:|(?:\A|\n)\[(?:INFO|WARN(?:ING)?|ERROR)\]|\[GEOP\]")),
    ("log", lazy_compile(rb"(?:\A|\n)Traceback \(most recent|\b[EW][A-Z0-9]\d{4}: |\bTF Adapter|\btorch_npu\b")),
    ("log", lazy_compile(rb"(?i)\b(?:epochs?|steps?|iter(?:ation)?s?)\b[^\n]{0,80}\bloss\b")),
    ("log", lazy_compile(rb"(?i)\bloss\b[^\n]{0,80}\b(?:epoch|step)")),
)
_TEXT_NAMES = (".txt", ".out", ".stdout", ".err", ".stderr")
_MARKS_OF_COMPARISON = (
    frozenset(("cosinesimilarity",)),
    frozenset(("npuname", "benchname")),
    frozenset(("leftop", "rightop")),
    frozenset(("npudump", "groundtruth")),
)
_EXPORTED_SCALARS = frozenset(("walltime", "step", "value"))
_OF_SCRIPT = lazy_compile(
    r"lossscaler?|(?:[a-z]+[/.])*(?:train|val|valid|total|mean|avg|eval|test)?loss(?:es|avg|mean|total|value)?"
)


def form_of(location: str) -> str:
    """The form of a run artifact; empty if the file is none. The first bytes take precedence over the name.

    Tables: kernel_table, op_statistic, api_statistic, step_trace, step_trace_time, cluster_step_trace_time,
    operator_details, aicpu, fusion_op, task_time, l2_cache, memory_record, module_memory, operator_memory,
    static_memory, comparison, series_table (losses written by a script or TensorBoard); of msopprof op_basic_info,
    pipe_utilization, resource_conflict, arithmetic_utilization, core_l2_cache, core_memory, core_memory_ub,
    core_memory_l0. JSON: trace, communication, communication_matrix, communication_group, profiler_info,
    profiler_metadata, device_info, sample_info, construct, overflow, fusion_result, fusion_switch, statistics_dump,
    anomaly, rank_table, machine (of `npulint doctor`). Others: training_trace, trace_summary, comparison_advice,
    precision_console, log, events,
    database; by name only: spreadsheet (of a comparison), overflow_dump and tensor_dump."""
    if not _candidate(os.path.basename(location)):
        return ""
    return form_of_text(location, read_head(location, HEAD))


def form_of_text(name: str, head: bytes) -> str:
    """The form of an artifact from its name and the beginning of its content."""
    name = os.path.basename(name)
    if not head:
        return "fusion_switch" if is_switch_file(name) else ""
    if head.startswith(b"\x1f\x8b"):
        name, head = name.removesuffix(".gz"), _unpacked(head)
    if head.startswith(_UTF16) and not name.lower().endswith((".csv", ".json")):  # a log written by a Windows shell
        head = head[: len(head) & ~1].decode("utf-16", "replace").encode("utf-8", "replace")
    if head.startswith(_SQLITE):
        return "database" if _DATABASE.fullmatch(name) else ""
    if _EVENTS.fullmatch(name):
        return "events"
    named = next((form for form, pattern in _NAMES if pattern.fullmatch(name)), "")
    low = name.lower()
    if low.endswith(".csv"):
        return _of_table(head, named)
    if low.endswith(".xlsx"):
        return "spreadsheet" if named == "comparison" else ""
    if low.endswith((".json", ".cfg")) or _NUMBERED.fullmatch(name):
        return _of_json(head, named)
    if b"\0" in head[:1024] or head.startswith(b"\x93NUMPY"):
        return named if named == "overflow_dump" else "tensor_dump" if _TENSOR.fullmatch(name) else ""
    if low.endswith((".log", *_TEXT_NAMES)) and _CONSOLE.search(head):
        return "precision_console"
    if named:
        return named
    return next((form for form, pattern in _TEXTS if pattern.search(head)), "") if low.endswith(_TEXT_NAMES) else ""


def is_artifact_folder(name: str, parent: str = "") -> bool:
    """Whether a folder of this name in `parent` (names, no paths) contains only run artifacts. Below a folder of any
    name, `device_0/summary` and `device_0/timeline` are exports of msprof until 2023."""
    return bool(_FOLDER.fullmatch(name) or (name in _EXPORTS and _SIDE.fullmatch(parent)))


def is_switch_file(name: str) -> bool:
    """Whether a file of this name (no path) configures the fusion engine: an input of runs, read anywhere."""
    return bool(_SWITCHES.fullmatch(name))


def is_unread_folder(parent: str, name: str) -> bool:
    """Whether the folder `name` in the artifact folder `parent` (names, no paths) holds only raw slices of the
    profiler, often hundreds of files, which are not read."""
    return name in _BINARY_IN_FOLDER and bool(_RAW.fullmatch(parent))


def _candidate(name: str) -> bool:
    """Whether the name may be that of an artifact; other files are not opened."""
    low = name.lower().removesuffix(".gz")
    if low.endswith((".csv", ".json", ".cfg", ".log", ".db", ".npy", ".xlsx", *_TEXT_NAMES)):
        return True
    named = any(pattern.fullmatch(name.removesuffix(".gz")) for _, pattern in _NAMES)
    return named or bool(_EVENTS.fullmatch(name) or _TENSOR.fullmatch(name) or _NUMBERED.fullmatch(name))


def _of_table(head: bytes, named: str) -> str:
    """The form of a table by its header. A table whose header is not recognized has none, whatever its name."""
    if b"\0" in head[:64] and not head.strip(b"\0"):
        return ""
    lines = head.replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n\t ,;").split(b"\n", 1)
    line = lines[0].decode("utf-8", "replace").strip()
    cells = [cell.strip() for cell in line.split(max(",\t;", key=line.count))]
    form = form_of_header(cells)
    if form:
        return form
    names = {plain(cell) for cell in cells}
    if any(marks <= names for marks in _MARKS_OF_COMPARISON):
        return "comparison"
    if names == _EXPORTED_SCALARS or (len(names) > 1 and any(_OF_SCRIPT.fullmatch(name) for name in names)):
        return "series_table"
    return "kernel_table" if named == "kernel_table" and len(cells) > 1 else ""


def _of_json(head: bytes, named: str) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start not in (b"{", b"["):
        return named if named == "fusion_switch" else ""
    by_content = next((form for form, pattern in _JSON if pattern.search(head)), "")
    if named in ("communication", "communication_matrix") and by_content in ("communication", "communication_matrix"):
        return named  # the head of a large file may be incomplete
    return by_content or named


def _unpacked(head: bytes) -> bytes:
    """The decompressed beginning of a gzip file, limited like other heads, up to the first damage."""
    try:
        return zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return _sound(head)


def _sound(head: bytes) -> bytes:
    """The data before the damage; decompressed byte by byte because a damaged piece yields nothing."""
    unpacking, data = zlib.decompressobj(31), bytearray()
    try:
        for at in range(len(head)):
            data += unpacking.decompress(head[at : at + 1], HEAD)
            if len(data) >= HEAD:
                break
    except zlib.error:
        pass
    return bytes(data[:HEAD])
