"""Text, tables, disk stores and simulations -> `RankingData`."""
