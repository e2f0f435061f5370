"""Speed against peers: problems judged outside the timed region, both sides in one run, ratios printed."""
