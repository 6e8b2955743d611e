import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data" if (HERE / "data").exists() else HERE.parent.parent / "examples" / "data"


@pytest.fixture
def demo() -> str:
    return str(DATA / "demo.sql")
