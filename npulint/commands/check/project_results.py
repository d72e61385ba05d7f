"""The raw results of one project: taken from the cache, or made by reading and evaluating its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from npulint.core.budget import GENEROUS, Budget
from npulint.core.cache import Cache
from npulint.core.progress import Advance, no_progress
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.postprocess.record import RawResults
from npulint.judge.result_cache import cached_facts, fingerprint, ran_out
from npulint.judge.settings import Settings
from npulint.read.files import LoadedFile, ReadableFiles, load, read

_CODE = ("python", "notebook")
_LIBRARIES = (b"yaml", b"YAML", b"json", b"toml", b"OmegaConf")
_FEW = 40  # files of a project; reading so few again costs less than caching the facts of each


class Evaluator(msgspec.Struct, frozen=True):
    """Evaluates projects with one catalogue and one set of settings; `cache` holds earlier results. `evaluated` is
    called with the number of files of each project whose results were not there."""

    catalogue: Catalogue
    settings: Settings
    cache: Cache
    evaluated: Advance = no_progress

    def project(
        self, root: str, sources: Sequence[SourceFile], data: Mapping[str, bytes] = {}, advance: Advance = no_progress
    ) -> RawResults:
        """The raw results of one project. `data` replaces the bytes of files by path; `advance` is called with the
        number of files finished."""
        data = {**self.settings.piped(), **data}
        budget = self.settings.limits()
        loaded = loaded_files(sources, data, budget)
        readable = ReadableFiles(
            [loaded_file.file for loaded_file in loaded], lambda file: load(file, data.get(file.path), budget)
        )

        def read() -> list[FileFacts]:
            files = facts_of(loaded, self.cache, advance, budget)
            loaded.clear()  # the contents are not needed any more
            return files

        return self._results(root, loaded, read, readable, advance)

    def loaded(
        self,
        root: str,
        loaded: Sequence[LoadedFile],
        read: Callable[[], Sequence[FileFacts]],
        advance: Advance = no_progress,
    ) -> RawResults:
        """The raw results of loaded files, from the cache if possible; else `read` returns their facts. `advance` is
        called for results from the cache."""
        by_file = {(file.file.path, file.file.kind): file for file in loaded}
        readable = ReadableFiles([file.file for file in loaded], lambda file: by_file[file.path, file.kind])
        return self._results(root, loaded, read, readable, advance)

    def _results(
        self,
        root: str,
        loaded: Sequence[LoadedFile],
        read: Callable[[], Sequence[FileFacts]],
        readable: ReadableFiles,
        advance: Advance,
    ) -> RawResults:
        if not self.cache.enabled or self.settings.against:
            return self._evaluate(root, read(), readable)
        key = fingerprint(loaded, root, self.catalogue.digest, self.settings)
        raw_results = decoded(self.cache.get_many([key]).get(key, b""))
        if raw_results is not None:
            advance(len(loaded))
            return raw_results
        results = self._evaluate(root, read(), readable)
        if not ran_out(results.files):
            self.cache.put_many({key: msgspec.msgpack.encode(results)})
        return results

    def _evaluate(self, root: str, files: Sequence[FileFacts], readable: ReadableFiles) -> RawResults:
        # a run whose results are all in the cache needs none of it
        from npulint.commands.check.project_runner import evaluate_project

        results = evaluate_project(root, files, self.catalogue, self.settings, readable)
        self.evaluated(len(files))
        return results


def loaded_files(
    sources: Sequence[SourceFile], data: Mapping[str, bytes] = {}, budget: Budget = GENEROUS
) -> list[LoadedFile]:
    """The files of a project, loaded; data files only where some code may load them. `data` is as for `Evaluator`."""
    loaded = {id(source): load(source, data.get(source.path), budget) for source in sources if source.kind != "data"}
    if len(loaded) < len(sources) and any(
        _may_load(loaded_file.data) for loaded_file in loaded.values() if loaded_file.file.kind in _CODE
    ):
        loaded.update(
            (id(source), load(source, data.get(source.path), budget)) for source in sources if source.kind == "data"
        )
    return [loaded[id(source)] for source in sources if id(source) in loaded]


def _may_load(code: bytes) -> bool:
    """Whether code may load YAML, JSON or TOML; hydra does so itself."""
    return b"hydra" in code or ((b"load" in code or b"from" in code) and any(name in code for name in _LIBRARIES))


def facts_of(
    loaded: Sequence[LoadedFile], cache: Cache, advance: Advance = no_progress, budget: Budget = GENEROUS
) -> list[FileFacts]:
    """The facts of loaded files, from the cache if there are many of them."""
    if cache.enabled and len(loaded) > _FEW:
        return cached_facts(loaded, cache, advance, budget)
    files = []
    for item in loaded:
        files.append(read(item, budget=budget))
        advance(1)
    return files


def decoded(data: bytes) -> RawResults | None:
    """Results from its bytes; None when they are damaged."""
    try:
        return msgspec.msgpack.decode(data, type=RawResults)
    except msgspec.MsgspecError:
        return None
