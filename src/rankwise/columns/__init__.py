"""What the columns of a table become: features for a linear ranker, and back to functions of the columns."""
