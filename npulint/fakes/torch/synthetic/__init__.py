"""Data sets and weights that a program looks for and this machine lacks, made up at random with the right shapes."""
