"""What users write, checked by mypy --strict against the types of the package."""

from typing import Any, Optional

import oplens


def use(path: str) -> Optional[int]:
    with oplens.open(path, gpu="H200") as run:
        table: oplens.Table = run.kernels(where="sil>0", columns=["op", "sil"], top=3)
        row: dict[str, Any] = table[0]
        column: list[Any] = table["sil"]
        summary: str = run.summary().text
        run.report("x.html", title="x")
        causes: oplens.Table = oplens.diff(run, path).causes
        print(row, column, summary, causes, table.fields[0].unit, len(table))
    return oplens.price("mm", shapes=[(1, 2), (2, 3)], dtype="bf16").flops
