"""Measures of ranking quality, each with its conventions named."""
