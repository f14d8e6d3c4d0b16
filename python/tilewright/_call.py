"""How the calls of the package reach the library: where its files are, and requests from keywords."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TypeVar

from . import _native

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


def limits_of(time: float | str | None, memory_limit: int | str | None) -> _native.Limits:
    """Seconds or "10min", bytes or "2GiB"; None and 0 are no limit."""
    if isinstance(time, (int, float)):
        time = f"{time:.9f}" if time else ""
    if isinstance(memory_limit, int):
        memory_limit = f"{memory_limit / 1024:f}K" if memory_limit else ""
    return _native.Limits(time or "", memory_limit or "")


def fleet_of(executor: str | None, jobs: int | None, job_folder: str | os.PathLike[str] | None,
             partition: str | None) -> _native.FleetRequest:
    """Where jobs run. Worker processes are Pythons that import this package."""
    return fill(_native.FleetRequest(), executor=executor, jobs=jobs if jobs is not None else threads_of(None),
                folder=job_folder, partition=partition,
                worker_command=[sys.executable, str(_package / "_worker.py"), str(_package.parent)])
