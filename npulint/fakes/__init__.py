"""Fakes of the NPU's plugins: migrated programs run with them where there is no NPU, and what they configure is
recorded. A fake has the names of the real plugin, checks what it is given as the real one does, and computes on the
CPU. Nothing that `npulint check` runs imports this package."""
