"""What a fitted ranker computes, as numbers: all that predicting, measuring and exporting need."""
