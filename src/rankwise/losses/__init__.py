"""Losses on differences of scores."""
