"""The processes of a trial: a supervisor starts them, ends all of them and removes what they leave, also when npulint
itself has ended. Only `supervised` belongs to npulint's process; the rest is that of the supervisor, which starts in an
isolated interpreter and needs nothing but the standard library."""
