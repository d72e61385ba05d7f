"""TensorFlow writes files without Python, which the guards do not see: checkpoints, events and models that a program
writes outside of the scratch folder go into a folder of the scratch folder, and are read from there."""

import importlib
import inspect
import os
import sys

_ELSEWHERE = "elsewhere"
_READING = (
    "FileExists ReadFileToString GetChildren GetMatchingFiles IsDirectory Stat CreateBufferedInputStream "
    "BufferedInputStream"
).split()
_WRITING = ("WriteStringToFile CreateDir RecursivelyCreateDir CreateWritableFile WritableFile EventsWriter").split()
_DELETING = "DeleteFile DeleteRecursively".split()
_OF_TWO = "CopyFile RenameFile".split()
_NATIVE = (  # a module of TensorFlow, and its name of the module in C that writes
    ("tensorflow.python.lib.io.file_io", "pywrap_tensorflow"),
    ("tensorflow.python.lib.io.file_io", "_pywrap_file_io"),
    ("tensorflow.python.summary.writer.event_file_writer", "pywrap_tensorflow"),
    ("tensorflow.python.summary.writer.event_file_writer", "_pywrap_events_writer"),
)
_SAVERS = (  # module, class, method, position and name of the path, and what is done with it
    ("tensorflow.python.training.saver", "Saver", "save", 2, "save_path", "write"),
    ("tensorflow.python.training.saver", "Saver", "restore", 2, "save_path", "prefix"),
    ("tensorflow.python.training.tracking.util", "TrackableSaver", "save", 1, "file_prefix", "write"),
    ("tensorflow.python.training.tracking.util", "TrackableSaver", "restore", 1, "save_path", "prefix"),
    ("tensorflow.python.checkpoint.checkpoint", "TrackableSaver", "save", 1, "file_prefix", "write"),
    ("tensorflow.python.checkpoint.checkpoint", "TrackableSaver", "restore", 1, "save_path", "prefix"),
    ("h5py", "File", "__init__", 1, "name", "mode"),
)


def redirect(tensorflow):
    """Have TensorFlow write into the scratch folder only."""
    native = {id(module): module for module in (getattr(_loaded(user), name, None) for user, name in _NATIVE)}
    for module in native.values():
        for names, work in ((_READING, _read), (_WRITING, _write), (_DELETING, _delete), (_OF_TWO, _two)):
            for function_name in names if module is not None else ():
                if hasattr(module, function_name):
                    _replace(module, function_name, work)
    for module, owner, method, place, name, use in _SAVERS:
        saver = getattr(_loaded(module), owner, None)
        if saver is not None:
            _replace_method(saver, method, place, name, use)
    _redirect_downloads(hasattr(tensorflow.compat.v1, "estimator"))  # not the Keras of TensorFlow 2.16 and newer
    summaries = _loaded("tensorflow.python.ops.gen_summary_ops")
    if summaries is not None:
        _replace_second(summaries, "create_summary_file_writer")


def _redirect_downloads(older):
    """Keras keeps data sets in a folder that it creates: here one of the scratch folder, with links to the user's.
    Newer releases take it from a variable."""
    home = os.environ.get("KERAS_HOME")
    for name in ("tensorflow.python.keras.utils.data_utils", "keras.utils.data_utils"):
        get_file = getattr(_loaded(name), "get_file", None) if older else None
        if home and get_file is not None and inspect.isfunction(get_file) and get_file.__defaults__:
            names = list(inspect.signature(get_file).parameters)
            if names and names[-1] == "cache_dir":
                get_file.__defaults__ = (*get_file.__defaults__[:-1], home)


def _loaded(name):
    if name in sys.modules:
        return sys.modules[name]
    if name == "h5py":
        return None  # not used by this TensorFlow
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def there(path, writing):
    """The path to use for one that the program gives."""
    guards = sys.modules.get("sitecustomize")
    text = path.decode("utf-8", "replace") if isinstance(path, bytes) else os.fspath(path)
    if guards is None or not hasattr(guards, "inside") or not text:
        return path
    if "://" in text and not text.startswith(("file://", "ram://")):
        raise OSError("npulint try: the network is off: " + text)
    text = text[7:] if text.startswith("file://") else text
    if guards.inside(text) or "://" in text:
        return path
    moved = os.path.join(guards.FOLDER, _ELSEWHERE, os.path.abspath(text).lstrip(os.sep))
    if writing:
        os.makedirs(os.path.dirname(moved), exist_ok=True)
    elif not os.path.lexists(os.path.dirname(moved) if "*" in moved else moved):
        return path
    moved += os.sep if text.endswith(os.sep) else ""
    return moved.encode() if isinstance(path, bytes) else moved


def _read(original, path, *args):
    return original(there(path, False), *args)


def _write(original, path, *args):
    return original(there(path, True), *args)


def _delete(original, path, *args):
    moved = there(path, False)
    guards = sys.modules.get("sitecustomize")
    if moved is path and guards is not None and not guards.inside(path):
        return None  # the user's file stays
    return original(moved, *args)


def _two(original, source, target, *args):
    return original(there(source, False), there(target, True), *args)


def _replace(module, name, work):
    original = getattr(module, name)
    setattr(module, name, lambda *args: work(original, *args))


def _replace_method(owner, method, place, name, use):
    original = getattr(owner, method)

    def called(self, *args, **kwargs):
        given = list(args)
        if len(given) >= place:
            given[place - 1] = _used(given[place - 1], use, given, kwargs)
        elif name in kwargs:
            kwargs[name] = _used(kwargs[name], use, given, kwargs)
        return original(self, *given, **kwargs)

    setattr(owner, method, called)


def _used(path, use, args, kwargs):
    """The path to use for an argument, which may also be a tensor or an open file."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return path
    if use == "prefix":
        return _prefix(path)
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    return there(path, use == "write" or mode not in ("r", None))


def _prefix(path):
    """Where a checkpoint is: its files have the path as beginning of their names."""
    text = path if isinstance(path, bytes) else os.fspath(path)
    index = text + (b".index" if isinstance(text, bytes) else ".index")
    moved = there(index, False)
    return path if moved is index else moved[: -len(".index")]


def _replace_second(module, name):
    original = getattr(module, name)

    def called(resource, logdir, *args, **kwargs):
        value = getattr(logdir, "numpy", None)
        plain = value() if value is not None and not isinstance(logdir, (str, bytes)) else logdir
        if isinstance(plain, (str, bytes, os.PathLike)):
            logdir = there(plain, True)
        return original(resource, logdir, *args, **kwargs)

    setattr(module, name, called)
