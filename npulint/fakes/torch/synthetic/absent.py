"""Whether an error says that a data set or weights are not on this machine."""

from __future__ import annotations

import re

_TEXTS = re.compile(
    "|".join(
        (
            "the network is off|outside of the scratch folder",  # said by the guards of a trial
            "No such file or directory|doesn't exist|cannot find the|is not present in the root",
            "Dataset not found|not found or corrupted|You can use download=True|Error downloading",  # torchvision
            "offline mode|OfflineMode|is enabled|couldn't connect|Couldn't reach|Couldn't find|LocalEntryNotFound",
            "Can't load|Unable to load vocabulary|does not appear to have a file|not a local folder",  # transformers
            "Couldn't instantiate the backend tokenizer",
            "Network is unreachable|urlopen error|Failed to resolve|Connection error",
        )
    ),
    re.IGNORECASE,
)
_MISSING = (FileNotFoundError, ConnectionError)


def is_absent(error: BaseException) -> bool:
    """Whether something that would be downloaded or read is missing, as far as the error says."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, _MISSING) or says_absent(f"{type(seen).__name__}: {seen}"):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def says_absent(text: str) -> bool:
    """The same for the text of an error."""
    return bool(_TEXTS.search(text))
