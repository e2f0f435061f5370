"""Libraries that are used together with rankwise, in environments of their own: `make clients`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # the helpers of the other tests
