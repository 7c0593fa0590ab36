"""Bytes of a cheap page -> hints about many pages: seeds and change signals in one."""
