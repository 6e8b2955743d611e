"""What a peer found, as JSON: tables by name, or why there is none."""
import json
import math
import time


def error_line(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:160]


def plain(value):
    """Numbers of numpy as Python's; what is not a number as nothing."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Tables:
    def __init__(self, start):
        self.start = start
        self.times = {"import": time.perf_counter() - start}
        self.tables = {}
        self.fractions = False  # Whether times are no whole microseconds.

    def loaded(self):
        self.times["load"] = time.perf_counter() - self.start - self.times["import"]

    def add(self, name, make):
        try:
            columns, rows = make()
            self.tables[name] = {"columns": columns, "rows": [[plain(cell) for cell in row] for row in rows]}
        except Exception as error:  # The peer's own, whatever it is: it is what is reported.
            self.tables[name] = {"error": error_line(error)}

    def write(self, path):
        self.times["all"] = time.perf_counter() - self.start
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"times": self.times, "fractions": self.fractions, "tables": self.tables}, out)
