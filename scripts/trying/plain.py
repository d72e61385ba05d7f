"""Runs a program on the CPU, for a number of optimizer steps: ``python plain.py STEPS CODE script.py args``.

After each step it prints the digest of the parameters, as ``npulint try`` does in a trial with digests. CODE is
``cpu``, or ``posing`` where the CPU poses as the accelerator that the program asks for; with ``,synthetic`` what is
missing of data and weights is made up."""

from __future__ import annotations

import os
import runpy
import sys


def main(steps: int, code: list[str], program: str, arguments: list[str]) -> None:
    """Run the program; ends the process after the last step."""
    from npulint.fakes.torch import digests
    from npulint.fakes.torch.synthetic.install import install
    from scripts.trying import posing

    def ended(made: int) -> None:
        if made >= steps:
            sys.stdout.flush()
            os._exit(0)

    posing.step_as_accelerators_do()
    if "posing" in code:
        posing.pose()
    if "synthetic" in code:
        install()
    digests.report(lambda tensor: tensor.cpu(), ended)
    sys.argv = [program, *arguments]
    if program == "-m":
        sys.argv = arguments
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3], sys.argv[4:])
