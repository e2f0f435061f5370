"""Model selection: criteria that evaluate every alpha at once, and a scorer for scikit-learn."""
