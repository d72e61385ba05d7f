"""The command line of a script: its parser, its options, and how unknown options are handled."""

from __future__ import annotations

import sys
from itertools import chain

import msgspec

from npulint.model.launches.options import Option
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes, scope_at

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
        options = self.options.get(written)
        if options is None and self.by == "argparse":
            longer = [name for name in self.options if name.startswith(written)]
            options = self.options[longer[0]] if len(longer) == 1 else []
        return options or []

    def refuses(self, written: str) -> bool:
        """Whether the parser certainly has no such option."""
        if not self.closed or self.find(written):
            return False
        if self.by == "argparse":
            return written not in ("h", "help") and not any(name.startswith(written) for name in self.options)
        return written not in _ABSL_OWN


def command_line(context: Context, entry: str) -> CommandLine:
    """The command line of the script at `entry`, from all modules that it imports."""
    modules = [scope_at(context, context.project.modules[path], 0) for path in context.project.reached_from(entry)]
    paths = frozenset(module.path for module in modules)
    options: dict[str, list[Option]] = {}
    positionals = False
    for module in modules:
        for option in chain.from_iterable(context.options.by_module.get(module.path, {}).values()):
            if option.kind != "parameter":
                positionals = positionals or not option.flags
                for flag in option.flags:
                    options.setdefault(flag, []).append(option)
    by = _parsed_by(modules)
    closed = by == "argparse" and _closed_parser(modules)
    closed = closed or (by in ("absl", "tolerant") and _closed_flags(modules, options))
    return CommandLine(by, paths, options, closed, positionals)


def _parsed_by(modules: list[Scope]) -> str:
    parses = any(module.calls_named("parse_args") for module in modules)
    runners = {call.name for module in modules for call in module.calls_named("run")} & _FLAG_RUNNERS
    defines = any(_definitions(module) for module in modules)
    if parses == defines:
        return "unknown"
    if parses:
        return "argparse" if not runners else "unknown"
    if not runners:
        return "unknown"
    return "absl" if runners == {"absl.app.run"} else "tolerant"


def _definitions(module: Scope) -> list[CallSite]:
    """The calls that define flags of absl."""
    return [module.call(index) for index in module.module.calls_where(lambda last: last.startswith("DEFINE_"))]


def _closed_parser(modules: list[Scope]) -> bool:
    """Whether a single argparse parser reads the whole command line, and all its options are known."""
    if any(module.calls_named(*_OPEN) or _touches_arguments(module) for module in modules):
        return False
    named = ((module, index, name) for module in modules for index, name in enumerate(module.call_names))
    makers = [module.call(index) for module, index, name in named if name == "argparse.ArgumentParser"]
    if len(makers) != 1 or any(key in ("parents", "fromfile_prefix_chars", "**") for key in makers[0].keywords):
        return False
    holders = {assignment.target for assignment in makers[0].scope.assignments if assignment.line == makers[0].line}
    for call in (call for module in modules for call in module.all_calls):
        if call.last == "add_argument" and not _names_option(call):
            return False
        if call.last == "parse_args" and (call.keywords or (call.args and not _is_all_arguments(call.args[0]))):
            return False
        if call.module is makers[0].module and _gets(call, holders) and call.target is None:
            return False
    return True


def _closed_flags(modules: list[Scope], options: dict[str, list[Option]]) -> bool:
    """Whether all absl flags are known: no flag has a computed name, and no other code can define flags."""
    if "undefok" in options or any(_touches_arguments(module) for module in modules):
        return False
    context = modules[0].context
    if not _flags_have_names(context):
        return False
    for module in modules:
        if module.calls_named("import_module", "__import__", "exec"):
            return False
        for record in module.module.code.imports:
            root = record.module.partition(".")[0]
            if not record.level and root not in _NO_FLAGS and not context.project.imported(module.module, record):
                return False
    return True


@once
def _flags_have_names(context: Context) -> bool:
    """Whether no flag of the project has a computed name."""
    names = (call.argument("name", 0) for module in module_scopes(context) for call in _definitions(module))
    return all(name is not None and name.is_literal for name in names)


def _touches_arguments(module: Scope) -> bool:
    """Whether code modifies sys.argv."""
    if any(target.startswith(("sys.argv", "argv[")) for target in module.module.dotted):
        return True
    return any(call.written.startswith("sys.argv.") for call in module.all_calls)


def _names_option(call: CallSite) -> bool:
    return bool(call.args) and all(isinstance(arg.literal, str) for arg in call.args)


def _is_all_arguments(value: Expr) -> bool:
    """``sys.argv[1:]``, or nothing."""
    if value.is_literal:
        return value.literal is None
    return any(operand.written == "sys.argv" for operand in value.operands())


def _gets(call: CallSite, holders: set[str]) -> bool:
    """Whether a call is handed the parser."""
    return any(value.written in holders for value in call.arguments)
