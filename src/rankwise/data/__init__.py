"""Load text, tables and disk stores, or simulate data, as `RankingData`."""
