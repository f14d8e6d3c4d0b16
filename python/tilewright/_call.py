"""How the calls of the package reach the library: where its files are, and requests from keywords."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeVar

_package = Path(__file__).parent.resolve()

# Below it stands share/tilewright: the package itself in a wheel, /usr for Debian's python3/dist-packages.
prefix = str(next((p for p in (_package, _package.parents[3]) if (p / "share/tilewright").is_dir()), _package))

Request = TypeVar("Request")


def fill(request: Request, **options: Any) -> Request:
    """The request with the options that are not None."""
    for name, value in options.items():
        if not hasattr(type(request), name):
            raise TypeError(f"there is no option '{name}'")
        if value is not None:
            setattr(request, name, value)
    return request


def threads_of(threads: int | None) -> int:
    """All processors of this process, unless a number is given."""
    return threads if threads is not None else len(os.sched_getaffinity(0))
