"""Model files that hold numbers and names, never code."""
