"""Fuzzing of everything that reads files: ``make fuzz``, or ``python -m fuzz letor --seconds 60``."""
