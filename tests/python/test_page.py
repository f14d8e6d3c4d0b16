"""The code of docs/guides/python.md runs as it stands there, block after block."""
import re

from conftest import ROOT

import tilewright as tw


def test_code_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/python.md").read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guides/python.md", "exec"), names)
    assert len(blocks) == 6
    assert names["scores"].shape == (10, 10)
    assert list(names["scores"].argmax(1)) == names["timed"].classes
    assert isinstance(names["placed"], tw.Placement)
    assert names["study"].front and names["tuned"].ending == "none"
