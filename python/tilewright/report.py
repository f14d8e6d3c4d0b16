"""What calls give back: facts as data, as text, and as a picture or a table in a notebook."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Sequence

from . import _native

Row = dict[str, Any]


def scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def table(rows: Sequence[Row], columns: Sequence[str] | None = None) -> str:
    """An HTML table of the values that are numbers or words."""
    if not rows:
        return ""
    names = list(columns or [name for name, value in rows[0].items() if scalar(value)])

    def cell(value: Any) -> str:
        text = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
        return f"<td>{html.escape(text)}</td>"
    head = "".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join("<tr>" + "".join(cell(row.get(name, "")) for name in names) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Report:
    """Facts of the library: in a notebook its picture and its table, printed its text."""

    text: str
    """For people, lines of at most about 120 characters."""
    data: Any
    """The same as the command's --json: dicts, lists, numbers, words. Names of fields carry their units."""
    svg: str
    """The picture as an SVG document; empty where there is none."""

    _rows_at: Sequence[str] = ("layers",)  # the fields of `data` that hold a row each

    def __init__(self, text: str, data: str, svg: str = "", page: _native.Page | None = None):
        self.text, self.svg, self._page = text, svg, page
        self.data = json.loads(data)

    @property
    def rows(self) -> list[Row]:
        """A dict per row of the report's table (layers, tensors, candidates); empty where it has none."""
        fields = self.data if isinstance(self.data, dict) else {}
        return [dict(row) for name in self._rows_at for row in fields.get(name, [])]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of `rows`; nested values become columns named with dots. Needs pandas."""
        import pandas  # type: ignore[import]
        return pandas.json_normalize(self.rows)

    @property
    def page(self) -> str:
        """The HTML page of the command's --html, which needs no other file; empty where there is none."""
        return self._page.html if self._page else ""

    def save_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the HTML page. Raises ValueError where there is none."""
        if not self._page:
            raise ValueError("this report has no page")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture. Raises ValueError where there is none."""
        if not self.svg:
            raise ValueError("this report has no picture")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        picture = self.svg[self.svg.index("<svg"):] if "<svg" in self.svg else ""
        return f"<div>{picture}</div>" + (table(self.rows) or f"<pre>{html.escape(self.text)}</pre>")

    def _repr_svg_(self) -> str | None:
        return self.svg or None


def axes(given: Any) -> Any:
    """The axes of matplotlib to draw on: those given, or new ones."""
    if given is not None:
        return given
    from matplotlib import pyplot  # type: ignore[import]
    return pyplot.subplots()[1]


def bars(ax: Any, names: Sequence[str], values: Sequence[float], unit: str) -> Any:
    """Horizontal bars, the first at the top; returns the axes."""
    ax = axes(ax)
    ax.barh(list(names), list(values))
    ax.invert_yaxis()
    ax.set_xlabel(unit)
    return ax
