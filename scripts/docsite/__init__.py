"""The documentation site: Markdown for both languages from the catalogue, the option table and the guides."""
