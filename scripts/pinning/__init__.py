"""Records what npulint reports for many projects, and lists the differences between two recordings."""
