"""What every GPU kernel of a run was for: op, layer, FLOPs and bytes, from nvprof, Nsight Systems or PyTorch.

>>> import oplens
>>> run = oplens.open(demo)
>>> kernels = run.kernels(where="dir=bprop", columns=["op", "sil"])
>>> all(row["sil"] > 0 for row in kernels)
True

Times are in ns, work in FLOP and bytes; each column says its unit (`Table.fields`). Unknown is None, never 0.
"""

from __future__ import annotations

from ._errors import Error, UsageError, Warning
from ._oplens import __version__
from ._run import Cost, Diff, Run, Summary, diff, open, price, views
from ._table import Field, Table

__all__ = [
    "Cost",
    "Diff",
    "Error",
    "Field",
    "Run",
    "Summary",
    "Table",
    "UsageError",
    "Warning",
    "__version__",
    "diff",
    "open",
    "price",
    "views",
]
