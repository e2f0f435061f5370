"""Judged rows, and the tables that they may come from."""
