"""Fitted models, as numbers and names, and their files, which never hold code."""
