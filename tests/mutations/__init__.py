"""Six programs, what is done to them, and what a comparison must say of it.

``programs/NAME`` is a program, ``NAME.yaml`` says what is done to it: `mutations` change what a training computes,
`equalities` do not. `rewrites` holds the equalities that fit every program.
"""
