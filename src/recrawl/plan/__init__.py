"""Beliefs + prices + budget -> the visits worth buying."""
