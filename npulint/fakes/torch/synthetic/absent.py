"""Whether an error says that a data set or weights are not on this machine."""

from __future__ import annotations

import re

_TEXTS = re.compile(
    r"the network is off|outside of the scratch folder|Dataset not found|not found or corrupted|Error downloading|You can use download=True|"
    r"offline mode|OfflineMode|is enabled|couldn't connect|Couldn't reach|Can't load|Couldn't find|cannot find the|"
    r"We couldn't connect|LocalEntryNotFound|No such file or directory|doesn't exist|is not present in the root|"
    r"does not appear to have a file|Network is unreachable|urlopen error|Failed to resolve|Connection error|not a local folder|Unable to load vocabulary|"
    r"Couldn't instantiate the backend tokenizer",
    re.IGNORECASE,
)
_MISSING = (FileNotFoundError, ConnectionError)


def is_absent(error: BaseException) -> bool:
    """Whether something that would be downloaded or read is missing, as far as the error says."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, _MISSING) or (isinstance(seen, Exception) and says_absent(f"{type(seen).__name__}: {seen}")):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def says_absent(text: str) -> bool:
    """The same for the text of an error."""
    return bool(_TEXTS.search(text))
