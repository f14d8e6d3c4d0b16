"""Progress of long calls: a bar where a person watches, lines for a callback, nothing elsewhere."""
from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator

Progress = Callable[[str], None] | bool | None
Sink = Callable[[str, float | None], None]

_DELAY_S = 1.0  # shorter calls show nothing


def watched() -> bool:
    """Whether a person sees what is written: a terminal or a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" or sys.stderr.isatty()


class Lines:
    """Hands new lines to a callback; the library repeats the latest one so that a bar can count time."""

    def __init__(self, callback: Callable[[str], None]):
        self._callback, self._last = callback, ""

    def __call__(self, text: str, share: float | None) -> None:
        if text != self._last:
            self._last = text
            self._callback(text)


class Line:
    """The plain line where tqdm is not installed: overwritten on a terminal, cleared at the end."""

    def __init__(self, title: str):
        self._title, self._start, self._shown, self._width = title, time.monotonic(), 0.0, 0

    def __call__(self, text: str, share: float | None) -> None:
        now = time.monotonic()
        if now - self._start < _DELAY_S or now - self._shown < 0.2:
            return
        self._shown = now
        percent = f" {100 * share:3.0f} %" if share is not None else ""
        line = f"{self._title}{percent} [{now - self._start:.0f} s] {text}"[:100]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class Bar:
    """tqdm's bar: a widget in a notebook that has widgets."""

    def __init__(self, title: str):
        from tqdm.auto import tqdm  # type: ignore[import]
        self._bar: Any = tqdm(total=1.0, desc=title, leave=False, delay=_DELAY_S, file=sys.stderr,
                              bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}")

    def __call__(self, text: str, share: float | None) -> None:
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(max(0.0, min(1.0, share) - self._bar.n) if share is not None else 0)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


@contextlib.contextmanager
def shown(progress: Progress, title: str) -> Iterator[Sink | None]:
    """What the library calls with a line and the share that is done, 0 to 1 or None. `progress`: a function that gets
    the lines; True: a bar; False: nothing; None: a bar in a terminal or a notebook."""
    if callable(progress):
        yield Lines(progress)
        return
    if progress is False or (progress is None and not watched()):
        yield None
        return
    bar: Bar | Line
    try:
        bar = Bar(title)
    except ImportError:
        bar = Line(title)
    try:
        yield bar
    finally:
        bar.close()
