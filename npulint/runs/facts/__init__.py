"""What a run left behind: one program of its own, beside the code that ran."""
