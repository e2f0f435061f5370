"""``python -m rankwise`` runs the command line."""

import sys

from rankwise.cli import main

sys.exit(main())
