"""Wheels and the source distribution: built, then used in clean environments."""
