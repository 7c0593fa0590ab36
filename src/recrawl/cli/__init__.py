"""Arguments -> what a command prints; one file a group, nothing heavy imported until one runs."""
