"""What differs in the code of two programs beside their steps: statements of counterparts, compared as trees."""
