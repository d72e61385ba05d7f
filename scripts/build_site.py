"""Build the documentation site: ``python scripts/build_site.py OUT [--site-url URL]``.

The folder OUT then holds ``en/`` and ``zh/`` and a page that leads to either. Any web server can serve it, below any
path, and a browser can open it from the disk; nothing is fetched from elsewhere. Needs ``pip install '.[docs]'``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from npulint.core.errors import NpulintError
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.settings import DOCS_URL
from scripts.docsite.build import build
from scripts.docsite.generate import renamed, retired


def main() -> int:
    """Build; 1 when a page is at fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder for the site")
    parser.add_argument("--site-url", default=DOCS_URL, metavar="URL", help="where it will be published (%(default)s)")
    args = parser.parse_args()
    catalogue = load_catalogue(())
    try:
        build(args.out, catalogue, args.site_url.rstrip("/"), retired(), renamed(catalogue))
    except (NpulintError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
