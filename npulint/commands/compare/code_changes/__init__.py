"""What differs in the code of two programs beside their steps: statements of counterpart functions, compared as trees."""
