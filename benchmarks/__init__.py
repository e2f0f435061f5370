"""Speed against other tools: results are checked untimed, both sides run together, ratios are printed."""
