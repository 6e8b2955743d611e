#!/usr/bin/env python3
"""Checks what the programs print for programs against their JSON Schemas.

    check_schemas.py --bin DIR [--corpus DIR] [--only SUBSTRING]

Runs prof --json (kernels with all columns, copies, groups, all views, diffs) and oplens --json over the
profiles below DIR (default: $OPLENS_CORPUS_DIR, and examples/data), and validates each line with the
schema that --schema prints, by the package jsonschema. Keys that a schema does not name are errors here,
so that a field cannot be forgotten. Lines that agree in the types of all values are validated once.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAIRS = [("kineto/sam_amg/before_eager.json.gz", "kineto/sam_amg/compiled_triton.json.gz"),
         ("kineto/mi300/bert_small.json.gz", "kineto/h100/bert_small.json.gz"),
         ("kineto/switch_moe/moe_train_early.json.gz", "kineto/switch_moe/moe_train.json.gz")]
ENDINGS = (".sql", ".sqlite", ".nvvp", ".nvprof", ".prof", ".json")


def signature(value):
    """Equal for values that a schema made of types treats alike."""
    if isinstance(value, dict):
        return tuple((key, signature(item)) for key, item in value.items())
    if isinstance(value, list):
        return ("list", len(value) if len(value) <= 3 else 4, frozenset(signature(item) for item in value))
    return type(value).__name__


def closed(schema):
    """The schema with keys that it does not name forbidden, at every depth."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(item) for key, item in schema.items()}
    if "properties" in made and isinstance(made["properties"], dict) and "required" in made:
        made.setdefault("additionalProperties", False)
    return made


class Checker:
    def __init__(self, folder):
        self.folder = folder
        self.validators = {}
        self.lines = self.validated = 0
        self.errors = []

    def run(self, program, *words):
        return subprocess.run([self.folder / program, *words], capture_output=True, text=True)

    def validator(self, table):
        if table not in self.validators:
            words = ("--schema",) if table == "screen" else ("--schema", table)
            result = self.run("oplens" if table == "screen" else "prof", *words)
            assert result.returncode == 0, (table, result.stderr)
            schema = json.loads(result.stdout)
            Draft202012Validator.check_schema(schema)
            self.validators[table] = Draft202012Validator(closed(schema))
        return self.validators[table]

    def check(self, table, text, what):
        """`table` None: each line says its own."""
        seen = set()
        for line in text.splitlines():
            self.lines += 1
            row = json.loads(line)
            own = table or row["view"]
            shape = (own, row.get("view"), signature(row))
            if shape in seen:
                continue
            seen.add(shape)
            self.validated += 1
            for error in self.validator(own).iter_errors(row):
                self.errors.append(f"{what}: {own}: {list(error.path)}: {error.message[:200]}")
                break

    def check_file(self, path):
        for table, words in [("kernels", ("-c", "all")), ("copies", ("--copies",)),
                             ("summary", ("--by", "op,dir")), ("summary", ("--by", "kernel,grid,layer")),
                             ("summary", ("--copies", "--by", "kind")), (None, ("--view", "all")),
                             (None, ("--view", "all", "--by", "step,op,layer,call,kernel"))]:
            result = self.run("prof", "--json", "--quiet", *words, path)
            if result.returncode == 0:
                self.check(table, result.stdout, f"{path} {' '.join(words)}")
        result = self.run("oplens", "--json", "--quiet", path)
        if result.returncode == 0:
            self.check("screen", result.stdout, path)

    def check_pair(self, base, new):
        for views in ("operators", "all"):
            result = self.run("prof", "--json", "--quiet", "--diff", base, "--view", views, "--all", "--fail-if",
                              "total>+1%", new)
            if result.stdout:
                self.check("diff", result.stdout, f"{base} {new}")
            elif result.returncode not in (0, 4, 5):
                self.errors.append(f"{base} {new}: {result.stderr[:200]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", default=os.environ.get("OPLENS_CORPUS_DIR", ""))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    checker = Checker(given.bin.resolve())
    files = sorted(ROOT.glob("examples/data/**/*"))
    corpus = pathlib.Path(given.corpus) if given.corpus else None
    if corpus:
        for folder in ("nvprof", "nsys", "kineto"):
            files += sorted((corpus / folder).rglob("*"))
    for path in files:
        name = path.name.removesuffix(".gz").removesuffix(".zst")
        if path.is_file() and name.endswith(ENDINGS) and "golden" not in path.parts and given.only in str(path):
            checker.check_file(path)
    if corpus and not given.only:
        for base, new in PAIRS:
            checker.check_pair(corpus / base, corpus / new)
    for error in sorted(set(checker.errors))[:40]:
        print(error)
    print(f"{checker.lines} lines, {checker.validated} of different shapes, {len(checker.errors)} errors")
    return 1 if checker.errors or not checker.lines else 0


if __name__ == "__main__":
    sys.exit(main())
