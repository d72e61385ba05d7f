"""What starts the project's programs, and what state they are in: launchers, options, framework, adapter, port."""
