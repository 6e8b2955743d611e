#!/usr/bin/env python3
"""Holds what changes saved (changes.py) against what advice said of the programs without them: a Markdown table.

    compare.py PROF OUT_DIR       PROF: the program prof; OUT_DIR: of changes.py
"""
import argparse
import json
import pathlib
import subprocess


def advice(prof, trace):
    """(rule, estimate, bound), in percent, of each advice that has both."""
    rows = subprocess.run([prof, "--view", "advice", "--json", "--quiet", str(trace)], check=True, capture_output=True,
                          text=True).stdout.splitlines()
    found = [json.loads(row) for row in rows]
    return [(row["id"], row["estimate_pct"], row["gain_pct"]) for row in found if row["estimate_pct"] is not None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prof")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    results = json.loads((options.out / "changes.json").read_text())
    print(f"{results['gpu']}, PyTorch {results['torch']}\n")
    print("| program | ms | ms with the change | saved | advice on the first: estimate of bound, % |\n|---|---|---|---|---|")
    for name, times in results["changes"].items():
        told = ", ".join(f"`{rule}` {estimate:.1f} of {bound:.1f}"
                         for rule, estimate, bound in advice(options.prof, options.out / f"{name}.before.json.gz"))
        saved = 100 * (1 - times["after_s"] / times["before_s"])
        print(f"| `{name}` | {times['before_s'] * 1e3:.2f} | {times['after_s'] * 1e3:.2f} | {saved:.1f} % | {told} |")


if __name__ == "__main__":
    main()
