"""Click logs, and training data from them."""
