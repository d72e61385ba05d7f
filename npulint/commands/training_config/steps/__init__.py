"""Steps: the operations of a function that affect the numbers of a training."""
