"""What notebooks show: those of the examples, and the page in one."""

import html
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import oplens

NOTEBOOKS = pathlib.Path(__file__).parent / "notebooks"


def executed(books, folder):
    """Notebooks after all their cells ran, by name; each in its own kernel, in the folder where it lies."""
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--output-dir", folder, *books]
    # What a notebook has no business with.
    env = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_CONFIG_DIR": str(folder / "jupyter")}
    result = subprocess.run(command, capture_output=True, text=True, env=env)
    assert result.returncode == 0, result.stderr[-3000:]
    return {book.name: json.loads((folder / book.name).read_text()) for book in books}


def outputs_of(book):
    return [output for cell in book["cells"] if cell["cell_type"] == "code" for output in cell["outputs"]]


@pytest.mark.skipif(not NOTEBOOKS.exists(), reason="no notebooks here")
def test_notebooks(tmp_path):
    books = [NOTEBOOKS / f"{name}.ipynb" for name in ("step", "backward", "two_runs", "ranks", "own_op")]
    for name, book in executed(books, tmp_path).items():
        outputs = outputs_of(book)
        said = ["".join(output["text"]) for output in outputs if output.get("name") == "stderr"]
        # Warnings of oplens: the demo has a kernel without a launch.
        assert all(re.search(r"^\S+: Warning: .*\[no-launch\]", text) for text in said), (name, said)
        shown = ["".join(output["data"].get("text/html", "")) for output in outputs if "data" in output]
        assert len(shown) >= 2 and any("<table>" in text for text in shown), name
        assert not any("<script" in text for text in shown), name


def test_the_page_in_a_notebook(demo, tmp_path):
    cells = ["import html, oplens", f"run = oplens.open({demo!r})", "run.page(height=300, title='t <1>')", "run.summary()"]
    book = tmp_path / "page.ipynb"
    code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    book.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {},
                                "cells": [{**code, "id": f"c{i}", "source": cell} for i, cell in enumerate(cells)]}))
    (tmp_path / "out").mkdir()
    results = outputs_of(executed([book], tmp_path / "out")["page.ipynb"])
    page, summary = [output for output in results if output["output_type"] == "execute_result"]
    # IPython has advice about frames, too.
    assert "IFrame" not in json.dumps([output for output in results if output["output_type"] == "stream"])
    text = "".join(page["data"]["text/html"])
    frame = re.search('<iframe srcdoc="([^"]*)" width="100%" height="300" sandbox="allow-scripts"', text)
    inside = html.unescape(frame.group(1))
    oplens.open(demo).report(tmp_path / "page.html", title="t <1>")
    written = (tmp_path / "page.html").read_text()
    assert inside[:15] == "<!DOCTYPE html>" and inside.rstrip()[-7:] == "</html>"
    assert abs(len(inside) - len(written)) < 4096
    assert "".join(summary["data"]["text/html"]) == oplens.open(demo).summary()._repr_html_()
