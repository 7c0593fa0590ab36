"""Visit -> outcome: the only stage that spends."""
