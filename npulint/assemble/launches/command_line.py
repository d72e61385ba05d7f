"""The command line of a script: its parser, its options, and how unknown options are handled."""

from __future__ import annotations

import sys
from itertools import chain

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.launches.options import Option
from npulint.assemble.module import Module
from npulint.facts.code import Call, Const, Op, Ref, Value

_ABSL_OWN = frozenset(
    """help helpshort helpfull helpxml helpmatch flagfile undefok v verbosity logger_levels logtostderr alsologtostderr
    stderrthreshold log_dir showprefixforinfo run_with_pdb pdb_post_mortem pdb run_with_profiling profile_file
    use_cprofile_for_profiling only_check_args test_srcdir test_tmpdir test_random_seed test_randomize_ordering_seed
    xml_output_file op_conversion_fallback_to_while_loop""".split()
)
_NO_FLAGS = sys.stdlib_module_names | frozenset(
    """tensorflow tensorflow_core keras numpy npu_bridge npu_device hccl absl six cv2 PIL scipy sklearn matplotlib
    pandas h5py tqdm skimage yaml imageio librosa nltk easydict horovod te tbe topi precision_tool moxing tf_slim
    tensorflow_addons tensorflow_hub tensorflow_datasets Cython setuptools pkg_resources psutil requests google lmdb
    soundfile pycocotools numba networkx gensim jieba sentencepiece regex termcolor colorama prettytable torch
    torchvision simplejson msgpack joblib nibabel SimpleITK pydicom apex gym seaborn tensorboardX wget future
    attr dill cffi mpi4py npu_convert_dropout""".split()
)
_OPEN = frozenset(
    """add_subparsers parse_known_args parse_known_intermixed_args import_module __import__ Fire HfArgumentParser
    from_argparse_args add_argparse_args exec eval""".split()
)
_FLAG_RUNNERS = frozenset(("absl.app.run", "tensorflow.app.run", "tensorflow.compat.v1.app.run"))


class CommandLine(msgspec.Struct, frozen=True, eq=False):
    """The command line of one script. `by` is argparse, absl (strict: unknown options abort), tolerant (TensorFlow's
    runner skips them) or unknown; `options` are those of its modules by option string; `closed`: there are no others;
    `positionals`: it also takes positional arguments; `modules` are the paths of the modules that the script
    imports."""

    by: str
    modules: frozenset[str]
    options: dict[str, list[Option]]
    closed: bool
    positionals: bool

    def find(self, written: str) -> list[Option]:
        """The options that an option string of a launcher may mean: also by a prefix where the parser permits that."""
        found = self.options.get(written)
        if found is None and self.by == "argparse":
            longer = [name for name in self.options if name.startswith(written)]
            found = self.options[longer[0]] if len(longer) == 1 else []
        return found or []

    def refuses(self, written: str) -> bool:
        """Whether the parser certainly has no such option."""
        if not self.closed or self.find(written):
            return False
        if self.by == "argparse":
            return written not in ("h", "help") and not any(name.startswith(written) for name in self.options)
        return written not in _ABSL_OWN


def command_line(context: Context, entry: str) -> CommandLine:
    """The command line of the script at `entry`, from all modules that it imports."""
    modules = [context.project.modules[path] for path in _closure(context, entry)]
    paths = frozenset(module.path for module in modules)
    options: dict[str, list[Option]] = {}
    positionals = False
    for module in modules:
        for option in chain.from_iterable(context.options.by_module.get(module.path, {}).values()):
            if option.kind != "parameter":
                positionals = positionals or not option.flags
                for flag in option.flags:
                    options.setdefault(flag, []).append(option)
    by = _parsed_by(context, modules)
    closed = by == "argparse" and _closed_parser(context, modules)
    closed = closed or (by in ("absl", "tolerant") and _closed_flags(context, modules, options))
    return CommandLine(by, paths, options, closed, positionals)


def _closure(context: Context, entry: str) -> list[str]:
    seen = {entry: None}
    queue = [entry]
    while queue:
        for target in context.project.uses(queue.pop()):
            if target not in seen:
                seen[target] = None
                queue.append(target)
    return list(seen)


def _parsed_by(context: Context, modules: list[Module]) -> str:
    parses = any(module.calls_of("parse_args") for module in modules)
    runners = {
        name
        for module in modules
        for index in module.calls_of("run")
        if (name := context.names.of_call(module, index)) in _FLAG_RUNNERS
    }
    defines = any(module.calls_where(_is_definition) for module in modules)
    if parses == bool(defines):
        return "unknown"
    if parses:
        return "argparse" if not runners else "unknown"
    if not runners:
        return "unknown"
    return "absl" if runners == {"absl.app.run"} else "tolerant"


def _is_definition(last: str) -> bool:
    return last.startswith("DEFINE_")


def _closed_parser(context: Context, modules: list[Module]) -> bool:
    """Whether a single argparse parser reads the whole command line, and all its options are known."""
    makers: list[tuple[Module, Call]] = []
    for module in modules:
        if module.calls_where(lambda last: last in _OPEN) or _touches_arguments(module):
            return False
        for index, name in enumerate(context.names.of_calls(module)):
            if name == "argparse.ArgumentParser":
                makers.append((module, module.code.calls[index]))
    if len(makers) != 1 or any(key in ("parents", "fromfile_prefix_chars", "**") for key, _ in makers[0][1].keywords):
        return False
    holders = {bind.target for bind in makers[0][0].code.assignments if bind.line == makers[0][1].line}
    for module in modules:
        for index, call in enumerate(module.code.calls):
            last = module.callee_name(index)
            if last == "add_argument" and not _named(call.args):
                return False
            if last == "parse_args" and (call.keywords or (call.args and not _all_arguments(call.args[0]))):
                return False
            if module is makers[0][0] and _gets(call, holders) and not _is_own(context, module, index):
                return False
    return True


def _closed_flags(context: Context, modules: list[Module], options: dict[str, list[Option]]) -> bool:
    """Whether all absl flags are known: no flag has a computed name, and no other code can define flags."""
    if "undefok" in options or any(_touches_arguments(module) for module in modules):
        return False
    if not context.memoize("flags have names", lambda: _flags_have_names(context)):
        return False
    for module in modules:
        if module.calls_where(lambda last: last in ("import_module", "__import__", "exec")):
            return False
        for record in module.code.imports:
            root = record.module.partition(".")[0]
            if not record.level and root not in _NO_FLAGS and not context.project.imported(module, record):
                return False
    return True


def _flags_have_names(context: Context) -> bool:
    """Whether no flag of the project has a computed name."""
    return all(
        isinstance(call.args[0] if call.args else dict(call.keywords).get("name"), Const)
        for module in context.project.modules.values()
        for call in map(module.code.calls.__getitem__, module.calls_where(_is_definition))
    )


def _touches_arguments(module: Module) -> bool:
    """Whether code modifies sys.argv."""
    if any(target.startswith(("sys.argv", "argv[")) for target in module.dotted):
        return True
    return any(isinstance(call.callee, Ref) and call.callee.name.startswith("sys.argv.") for call in module.code.calls)


def _named(args: tuple[Value, ...]) -> bool:
    return bool(args) and all(isinstance(arg, Const) and isinstance(arg.value, str) for arg in args)


def _all_arguments(value: Value) -> bool:
    """Whether a value is ``sys.argv[1:]`` or absent."""
    if isinstance(value, Const):
        return value.value is None
    return isinstance(value, Op) and any(isinstance(v, Ref) and v.name == "sys.argv" for v in value.operands)


def _gets(call: Call, holders: set[str]) -> bool:
    """Whether the parser is passed to a call."""
    values = (*call.args, *(value for _, value in call.keywords))
    return any(isinstance(value, Ref) and value.name in holders for value in values)


def _is_own(context: Context, module: Module, index: int) -> bool:
    return context.names.function(context.names.of_call(module, index)) is not None
