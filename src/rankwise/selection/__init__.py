"""Choosing among models: criteria that give a value to every alpha at once, and a scorer for scikit-learn."""
