"""Discovery: which files a run looks at, of which kind, and to which project each belongs."""

from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import group, project_root

__all__ = ["DiscoverOptions", "Discovery", "SourceFile", "discover", "group", "project_root"]
