"""Recognizes Docker Compose files and Kubernetes manifests by the keys in their text."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile

_SERVICES = lazy_compile(rb"(?m)^services:[ \t]*(?:#.*)?$")
_SERVICE = lazy_compile(rb"(?m)^[ \t]+(?:image|build):")
_RESOURCE = lazy_compile(rb"(?m)^apiVersion:[ \t]*\S")
_PODS = lazy_compile(rb"(?m)^[ \t]+(?:- )?containers:[ \t]*(?:#.*)?$")


def describes_containers(data: bytes) -> bool:
    """Whether a YAML text describes containers that are started; the structure is not parsed."""
    if b"services:" in data and _SERVICES.search(data) and _SERVICE.search(data):
        return True
    return b"containers:" in data and bool(_RESOURCE.search(data) and _PODS.search(data))
