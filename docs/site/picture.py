"""The picture of a report in README and tutorial: ``make picture``, which needs Chromium.

It is the first screen of the report of ``rankwise demo``.
"""

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import Browser, find_chromium  # noqa: E402

WIDTH, HEIGHT = 1100, 440


def main() -> None:
    executable = find_chromium()
    if executable is None:
        sys.exit("There is no Chromium on this machine.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        out = Path(folder, "demo")
        command = [str(Path(sys.executable).with_name("rankwise")), "demo", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = Browser(executable, Path(folder, "profile"))
        browser.resize(WIDTH, HEIGHT)
        browser("Emulation.setScrollbarsHidden", hidden=True)
        browser.open(out / "report.html")
        taken = browser("Page.captureScreenshot")["data"]
        browser.close()
    (ROOT / "docs" / "report.png").write_bytes(base64.b64decode(taken))


if __name__ == "__main__":
    main()
