"""The programs of the package `oplens`, which are no Python: this module only starts them."""

import os
import sys


def _start(name: str) -> None:
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oplens", "programs")
    os.execv(os.path.join(folder, "oplens"), [name, *sys.argv[1:]])


def oplens() -> None:
    _start("oplens")


def prof() -> None:
    _start("oplens-prof")


def parse() -> None:
    _start("oplens-parse")


def report() -> None:
    _start("oplens-report")


def record() -> None:
    _start("oplens-record")
