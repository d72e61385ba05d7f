"""``npulint survey``: checks a fleet of projects, each in a process that may die, and shows all results on one page.

`inputs` finds the projects, `clones` brings those that are git addresses, `execution` has workers (`worker`, `child`)
check them, `check` makes the part of one project, `tables` and `dashboard` show all parts."""
