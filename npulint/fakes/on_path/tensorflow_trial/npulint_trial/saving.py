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
_SAVERS = (  # module, class, and methods whose first argument is a path
    ("tensorflow.python.training.saver", "Saver", ("save", "restore"), 2),
    ("tensorflow.python.training.tracking.util", "TrackableSaver", ("save", "restore"), 1),
    ("tensorflow.python.checkpoint.checkpoint", "TrackableSaver", ("save", "restore"), 1),
    ("h5py", "File", ("__init__",), 1),
)


def redirect(tensorflow):
    """Have TensorFlow write into the scratch folder only."""
    native = {id(one): one for one in (getattr(_loaded(user), name, None) for user, name in _NATIVE)}
    for module in native.values():
        for names, work in ((_READING, _read), (_WRITING, _write), (_DELETING, _delete), (_OF_TWO, _two)):
            for one in names if module is not None else ():
                if hasattr(module, one):
                    _replace(module, one, work)
    for name, owner, methods, place in _SAVERS:
        found = getattr(_loaded(name), owner, None)
        for method in methods if found is not None else ():
            _replace_method(found, method, place)
    _redirect_downloads(hasattr(tensorflow.compat.v1, "estimator"))  # not the Keras of TensorFlow 2.16 and newer
    summaries = _loaded("tensorflow.python.ops.gen_summary_ops")
    if summaries is not None:
        _replace_second(summaries, "create_summary_file_writer")


def _redirect_downloads(older):
    """Keras keeps data sets in a folder that it creates: here one of the scratch folder, with links to the user's.
    Newer releases take it from a variable."""
    home = os.environ.get("KERAS_HOME")
    for name in ("tensorflow.python.keras.utils.data_utils", "keras.utils.data_utils"):
        found = getattr(_loaded(name), "get_file", None) if older else None
        if home and found is not None and inspect.isfunction(found) and found.__defaults__:
            names = list(inspect.signature(found).parameters)
            if names and names[-1] == "cache_dir":
                found.__defaults__ = (*found.__defaults__[:-1], home)


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


def _replace_method(owner, name, place):
    original = getattr(owner, name)
    writing = name != "restore"

    def called(self, *args, **kwargs):
        given = list(args)
        if len(given) >= place and isinstance(given[place - 1], (str, bytes, os.PathLike)):
            given[place - 1] = there(given[place - 1], writing and _writes(name, given, kwargs))
        for key in ("save_path", "file_prefix"):
            if isinstance(kwargs.get(key), (str, bytes, os.PathLike)):
                kwargs[key] = there(kwargs[key], writing)
        if name == "restore" and len(given) >= place:
            given[place - 1] = _prefix(args[place - 1])
        return original(self, *given, **kwargs)

    setattr(owner, name, called)


def _writes(name, given, kwargs):
    """Whether a file of h5py is opened to be written."""
    mode = given[1] if name == "__init__" and len(given) > 1 else kwargs.get("mode", "r" if name == "__init__" else "w")
    return mode not in ("r", None)


def _prefix(path):
    """Where a checkpoint is: its files have the path as beginning of their names."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return path
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
