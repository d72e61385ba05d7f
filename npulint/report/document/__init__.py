"""Format-independent report documents: builders create the content, a back end per format renders it."""
