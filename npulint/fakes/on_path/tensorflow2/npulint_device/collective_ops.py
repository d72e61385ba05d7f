"""The operators of collective communication."""

from npulint_adapter.collectives import allgather, allreduce, broadcast, reduce, reduce_scatter  # noqa: F401
