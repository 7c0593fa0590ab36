"""The only place where the stages meet: admit, plan, next, record; one file a use case."""
