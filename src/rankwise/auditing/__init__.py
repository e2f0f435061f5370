"""Judged data checked for what may be wrong with it."""
