"""Mutation testing: change one operator or number at a time, and see whether a test notices."""
