"""``python -m rankwise`` runs the command line."""

import sys

from rankwise.cli import main

if __name__ == "__main__":  # not in worker processes, which import it
    sys.exit(main())
