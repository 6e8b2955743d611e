#!/usr/bin/env python3
"""Checks that recorded files tell nothing of the machine and the person that recorded them.

    check_data_files.py [FOLDER] [--environment]   a line for each find in a file below FOLDER (default:
                                                   examples/data); exit code 1 if any
    check_data_files.py --self-test                checks that it finds each kind in made-up files, packed ones too

Looked for in every byte of every file, unpacked, and in every cell of databases (a text may lie in pieces in the
file): absolute paths, assignments of environment variables, host and user names of this machine; with --environment,
as where files are made, also the values of this environment. A find names the variable, never its value.
"""
import argparse
import bz2
import contextlib
import getpass
import gzip
import lzma
import os
import pathlib
import platform
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "data"
ROOTS = (b"bin boot data dev etc home lib lib64 media mnt nix opt private proc root run sbin scratch shared snap srv "
         b"sys tmp usr var work workspace workspaces Applications Library System Users Volumes").split()
# A folder of the root, also where a text begins in the middle of bytes; not the end of a relative path.
PATH = re.compile(rb"(?<![\w.\-])/(?:" + b"|".join(ROOTS) + rb")/[\w.\-]|file:/")
# In these there is no doubt, whatever stands before them.
SURE_PATH = re.compile(rb"/(?:home|root|Users|tmp|work|usr)/[\w.\-]")
# A cell or a line of text tells where a text begins, so that any root counts there.
TEXT_PATH = re.compile(rb"(?:^|[\s\"'=:,;(\[{])(?:/[\w.+\-]+/[\w.+\-]|[A-Za-z]:\\[\w.\-]|~/[\w.\-])")
VARIABLE = re.compile(rb"\b(?:[A-Z_]*PATH|HOME|USER|USERNAME|LOGNAME|MAIL|SHELL|PWD|OLDPWD|TERM|LANG|DISPLAY|EDITOR|"
                      rb"TMPDIR|HOSTNAME|LD_PRELOAD|(?:CUDA|NVIDIA|SLURM|SSH|XDG|OPLENS)_[A-Z_]+)=")
# Names that identify nobody, or are words of profiles.
COMMON_NAMES = {"root", "localhost", "localhost.localdomain", "user", "nobody", "main", "torch", "linear", "add", "sum"}
SHORTEST_NAME, SHORTEST_IN_BYTES, SHORTEST_VALUE = 3, 6, 8

# Made-up texts of files that no machine recorded: (file, text that is no find).
INVENTED = {"demo.sql": [b"/opt/conda/lib/python3.8/site-packages/torch/nn/"]}

PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}
ZSTD = b"\x28\xb5\x2f\xfd"
DATABASE = b"SQLite format 3\0"


def own_names():
    names = {"host": {platform.node(), socket.gethostname(), platform.node().split(".")[0]}, "user": set()}
    with contextlib.suppress(OSError, KeyError, ImportError):  # A user without a name.
        names["user"].add(getpass.getuser())
    return [(kind, name) for kind, found in names.items() for name in sorted(found)
            if len(name) >= SHORTEST_NAME and name not in COMMON_NAMES]


def environment_values():
    return [(f"value of {name}", value) for name, value in sorted(os.environ.items()) if len(value) >= SHORTEST_VALUE]


def patterns(environment):
    """(what, pattern in bytes, only in texts)"""
    yield "absolute path", PATH, False
    yield "absolute path", SURE_PATH, False
    yield "absolute path", TEXT_PATH, True
    yield "environment", VARIABLE, False
    for kind, name in own_names() + (environment_values() if environment else []):
        # A short one turns up in any heap of numbers.
        yield kind, re.compile(rb"(?<!\w)" + re.escape(os.fsencode(name)) + rb"(?!\w)"), len(name) < SHORTEST_IN_BYTES


def unpacked(data):
    """The bytes inside of packed ones, however often; throws ValueError where they cannot be had."""
    for _ in range(8):
        if data.startswith(ZSTD):
            data = from_zstd(data)
            continue
        unpack = next((f for magic, f in PACKED.items() if data.startswith(magic)), None)
        if unpack is None:
            if data.startswith(b"PK\x03\x04"):
                raise ValueError("a zip archive is not looked into")
            return data
        try:
            data = unpack(data)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"cannot be unpacked: {error}") from error
    raise ValueError("packed too often")


def from_zstd(data):
    try:
        result = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=False)
    except OSError as error:
        raise ValueError("the program zstd is needed to look into it") from error
    if result.returncode != 0:
        raise ValueError("cannot be unpacked by zstd")
    return result.stdout


def cells(data):
    """The texts and blobs of a database, and the commands that made its tables."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        pathlib.Path(copy).write_bytes(data)
        try:
            with contextlib.closing(sqlite3.connect(copy)) as database:
                database.text_factory = bytes
                named = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for table in ["sqlite_master"] + [row[0].decode() for row in named]:
                    quoted = table.replace('"', '""')
                    for row in database.execute(f'SELECT * FROM "{quoted}"'):
                        yield from ((table, cell) for cell in row if isinstance(cell, bytes))
        except sqlite3.Error as error:
            raise ValueError(f"cannot be read as a database: {error}") from error


def places(data):
    """(where, bytes, is it text) of all there is to look at."""
    is_database = data.startswith(DATABASE)
    yield "bytes", data, not is_database
    if is_database:
        for table, cell in cells(data):
            yield f"table {table}", cell, True


def faults_of(path, looked_for):
    try:
        data = unpacked(path.read_bytes())
        found = set()
        for where, content, is_text in places(data):
            for invented in INVENTED.get(path.name, ()):
                content = content.replace(invented, b"invented:")
            for what, pattern, text_only in looked_for:
                match = pattern.search(content) if is_text or not text_only else None
                if match and (what, where) not in found:
                    found.add((what, where))
                    secret = what.startswith("value of ")
                    yield f"{what} in {where}" + ("" if secret else f": {shown(content, match)}")
    except ValueError as error:
        yield str(error)


def shown(content, match):
    return ascii(content[match.start():match.start() + 60].decode("utf-8", "replace"))


def faults(folder, environment=False):
    looked_for = list(patterns(environment))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        yield f"{folder}: no files"
    for path in files:
        for fault in faults_of(path, looked_for):
            yield f"{path.relative_to(folder)}: {fault}"


def made_up_database(path, text):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT)")
        database.execute("INSERT INTO StringTable(value) VALUES (?)", (text,))
        database.commit()
    return path.read_bytes()


BAD_TEXTS = {
    "absolute path": ["at /home/someone/x.py", '{"file": "/unusual/place/x"}', "C:\\Users\\x", "~/x.py", "/srv/x",
                      "/net/disk1"],
    "environment": ["HOME=x", "LD_LIBRARY_PATH=lib", "the USER=me"],
}
GOOD_TEXT = "step.py: ./mlp_step_cuda 2; a/data/b; torch/nn/functional.py:12; ns/op; 1 / 2; aten::mm; grid = (1, 2)"


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        def found(file, data, environment=False):
            folder = root / "files"
            folder.mkdir(exist_ok=True)
            (folder / file).write_bytes(data)
            result = list(faults(folder, environment))
            (folder / file).unlink()
            return result

        texts = [(what, text) for what, list_of in BAD_TEXTS.items() for text in list_of]
        host = next((name for kind, name in own_names() if kind == "host"), None)
        if host:
            texts.append(("host", f"on {host}."))
        for number, (what, text) in enumerate(texts):
            # Long enough to lie on several pages, the find in the middle.
            long_text = "x " * 120 + text + " y" * 300
            database = made_up_database(root / f"{number}.sql", long_text)
            for file, data in [("a.txt", text.encode()), ("a.gz", gzip.compress(text.encode())), ("a.sql", database),
                               ("a.sql.xz", lzma.compress(gzip.compress(database)))]:
                if not any(f": {what} in " in fault for fault in found(file, data)):
                    sys.exit(f"{what} was not found in {file}: {text}")
        good = made_up_database(root / "good.sql", GOOD_TEXT)
        for file, data in [("good.txt", GOOD_TEXT.encode()), ("good.sql", good), ("good.gz", gzip.compress(good))]:
            if found(file, data):
                sys.exit(f"finds where there is nothing: {found(file, data)}")
        os.environ["OPLENS_CHECK_SECRET"] = "hunter2-hunter2"
        secret = found("a.txt", b"a hunter2-hunter2 b", environment=True)
        if len(secret) != 1 or "OPLENS_CHECK_SECRET" not in secret[0] or "hunter2" in secret[0]:
            sys.exit(f"wrong find of a value: {secret}")
        for file, data in [("a.gz", b"\x1f\x8bxxxx"), ("a.sql", DATABASE + b"x" * 600), ("a.zip", b"PK\x03\x04")]:
            if not found(file, data):
                sys.exit(f"{file}: what cannot be looked into must be a find")
        if not list(faults(root / "nothing")):
            sys.exit("an empty folder must be a find")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=FOLDER)
    parser.add_argument("--environment", action="store_true", help="look for the values of this environment too")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    found = list(faults(options.folder, options.environment))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
