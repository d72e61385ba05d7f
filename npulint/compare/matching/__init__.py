"""Which file, class and function of one project is which of the other."""
