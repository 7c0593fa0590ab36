"""The ledger -> answers: what was spent, on what, and what it bought."""
