"""Sums over queries that are all a linear RankRLS model needs of its data."""
