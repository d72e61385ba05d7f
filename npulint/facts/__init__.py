"""Facts: the plain records that readers produce and the only thing that a check sees."""
