"""The package ``npu_bridge`` itself."""

import atexit

import npulint_adapter.sessions  # noqa: F401  the adapter sees every session from its import on
from npulint_adapter.plugin import npu_close

npu_bridge_handle = None
atexit.register(npu_close)
