"""The command line: one file a group of commands, nothing heavy imported until one runs."""
