"""Judge: facts and the catalogue of checks come in; findings, readiness and effort go out. Asked by fix and report."""
