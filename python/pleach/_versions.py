"""Shows which versions are installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from pleach import _pleach


def show_versions() -> None:
    """Print the versions of Pleach, Python and the packages that it works with, and the number of cores."""
    print(f"pleach {_pleach.__version__}")
    print(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    print(f"cores {_pleach.cores()}")
    for name in ("numpy", "pandas", "numba"):
        try:
            print(f"{name} {version(name)}")
        except PackageNotFoundError:
            print(f"{name} is not installed")
