"""Changes of a program that mean nothing, each applied to one location, and what npulint reports before and after."""
