"""The command: `pleach ...`, or `python -m pleach ...`."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from pleach import _pleach


def _script() -> str:
    """Return the script that runs this command, with which it starts itself in another process."""
    called = os.path.abspath(sys.argv[0])
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    candidates = [called, *(os.path.join(folder, "pleach") for folder in folders)]
    usable = (path for path in candidates if not path.endswith(".py") and os.access(path, os.X_OK))
    return next(usable, candidates[1])


def main() -> None:
    """Run the command line of this process."""
    # The command has its own way of stopping; Python's would end it with a traceback.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_pleach.command(_script(), sys.argv[1:]))


if __name__ == "__main__":
    main()
