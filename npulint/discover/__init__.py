"""File discovery: which files to check, their kinds, and the projects they belong to."""

from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import group, project_root

__all__ = ["DiscoverOptions", "Discovery", "SourceFile", "discover", "group", "project_root"]
