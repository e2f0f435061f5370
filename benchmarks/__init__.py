"""Speed against peers: setup and checks untimed, both sides in one run, ratios printed."""
