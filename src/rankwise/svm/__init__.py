"""RankSVM: the hinge loss on differences, by cutting planes or truncated Newton."""
