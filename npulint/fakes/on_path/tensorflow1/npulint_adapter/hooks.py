"""Hooks of the adapter."""

import os

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.training import basic_session_run_hooks, session_run_hook

from npulint_adapter import collectives, ranks, util


class NPUShutDownHook(session_run_hook.SessionRunHook):
    def __init__(self, scaffold=None):
        super().__init__()


class NPUBroadcastGlobalVariablesHook(session_run_hook.SessionRunHook):
    """Gives the ranks the variables of the first one."""

    def __init__(self, root_rank=None, index=None):
        size = ranks.size_in_environment()
        self._size = int(size) if size.isdigit() else 1
        self._root_rank = root_rank
        self._op = None
        record.add("hooks", {"class": type(self).__name__, "root_rank": root_rank})

    def begin(self):
        if self._size > 1:
            self._op = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session, coord):
        if self._size > 1:
            session.run(self._op)


class NPUCheckpointSaverHook(basic_session_run_hooks.CheckpointSaverHook):
    """Saves checkpoints."""


class SetIterationsVarHook(session_run_hook.SessionRunHook):
    """Sets the number of steps that run on the device at a time."""

    def __init__(self, iterations_per_loop=None):
        self._iterations = iterations_per_loop

    def begin(self):
        for name in ("iterations_per_loop", "loop_cond", "zero", "one"):
            util.create_or_get_var(name)

    def after_create_session(self, session, coord):
        util.load_loop(session, self._iterations)


def broadcast_global_variables(root_rank):
    """An operation that gives the ranks the trainable variables of one of them."""
    made = []
    for variable in tf.trainable_variables():
        values = collectives.broadcast([variable], root_rank)
        made.append(tf.assign(variable, values[0]))
    return tf.group(made)


class NPUOutputTensorHook(basic_session_run_hooks.LoggingTensorHook):
    """Calls a function with tensors every so many steps."""

    def __init__(self, tensors, dependencies=None, output_fn=None, output_every_n_steps=0):
        super().__init__(tensors, every_n_iter=1 << 31)
        self._output_fn = output_fn
        self._every = output_every_n_steps
        self._values = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._current_tensors)

    def after_run(self, run_context, run_values):
        self._values.append({tag: run_values.results[tag] for tag in self._tag_order})
        if self._every and len(self._values) % self._every == 0:
            self._hand_over()

    def end(self, session):
        if self._values:
            self._hand_over()

    def _hand_over(self):
        self._output_fn(self._values)
        self._values = []


class TellMeStepOrLossHook(session_run_hook.SessionRunHook):
    """Tells the adapter how far the training is."""

    def __init__(self, step=None, total_step=None, loss=None, final_loss=None):
        if step is None and loss is None:
            raise ValueError("One of step or loss must be specified")
        self._fetches = {name: fetch for name, fetch in (("STEP_NOW", step), ("LOSS_NOW", loss)) if fetch is not None}

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(fetches=self._fetches)

    def after_run(self, run_context, run_values):
        for name, value in run_values.results.items():
            os.environ[name] = str(value)


class NPULogOutfeedSessionHook(session_run_hook.SessionRunHook):
    """Prints what the device logs: nothing."""

    def __init__(self, output_stream):
        self._output_stream = output_stream
