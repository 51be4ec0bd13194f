"""The command: `pleach ...`, or `python -m pleach ...`."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from pleach import _pleach


def main() -> None:
    """Run the command line of this process."""
    # The command has its own way of stopping; Python's would end it with a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = sys.argv[0]
    if not os.access(script, os.X_OK) or script.endswith(".py"):
        script = os.path.join(sysconfig.get_path("scripts"), "pleach")
    sys.exit(_pleach.command(script, sys.argv[1:]))


if __name__ == "__main__":
    main()
