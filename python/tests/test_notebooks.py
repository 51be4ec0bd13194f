"""The notebooks run from top to bottom, and hold no outputs; so do the examples on the page about the package."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGE = ROOT.parent / "docs" / "python.md"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_runs_from_top_to_bottom(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None)
    NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
    for cell in notebook.cells:
        if "pleach.Live()" in cell.source:
            shown = [output for output in cell.outputs if output.output_type == "display_data"]
            # Updated in place, it is one output, which has the last news.
            assert len(shown) == 1 and "10,0" in shown[0].data["text/html"]
    assert len(NOTEBOOKS) == 3


def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its blocks of Python are one program."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 8
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.txt").write_text("3 2\n3 5 1\n6 2 2\n")
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
