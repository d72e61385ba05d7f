"""Executes a start of a program abstractly, and says what its expressions are worth and which of its lines run.

In come the files of a project and a start (script, words, environment variables); out come answers for the probes.
Commands ask by `npulint.model.execution.reveal`.

The execution goes forward: statements in the order in which Python executes them, every branch that may be taken, in
one pass. Going backward from a question needs to know for each read which writes may have come before, through every
alias, parameter and method; forward, the state simply holds them, in their order, and exits, exceptions and what runs
at import come by themselves. Both were held against executions: forward, no certain answer was wrong, at about ten
milliseconds for a program of two hundred statements.

`machine` has the control flow of an execution and what its parts ask of one another, `engine` puts them together.
Statements and expressions are executed by the modules of these names; `items`, `attributes`, `calls`, `classes`,
`modules`, `exceptions` and `iterators` do what their objects do; `library` models built-in functions and the standard
library; `unsure` executes what runs at a time that is not known. Where a limit of work is reached (`Exhausted`),
nothing is certain."""
