"""Thin scikit-learn classes: validate, call one solver, set attributes."""
