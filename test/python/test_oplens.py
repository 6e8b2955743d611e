"""The package as users have it: from a wheel, without the sources."""

import doctest
import gc
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import warnings

import pytest

import oplens
import oplens._run
import oplens._table

PROGRAM = pathlib.Path(oplens.__file__).parent / "programs" / "oplens"


def printed(paths, *words):
    """Rows of `prof --json`, without what names format and view."""
    out = subprocess.run(
        [PROGRAM, "prof", "--quiet", "--json", *words, *map(str, paths)], capture_output=True, text=True, check=True
    ).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [{key: value for key, value in row.items() if key not in ("schema", "view")} for row in rows]


def expect_same(table, rows):
    assert len(table) == len(rows)
    for mine, theirs in zip(table, rows):
        for key, value in theirs.items():
            if isinstance(mine[key], list) and isinstance(value, str):
                value = [value]
            assert mine[key] == value, (table.name, key)
        assert all(value is None for key, value in mine.items() if key not in theirs)


def rows_of_views(paths, *words):
    out = subprocess.run(
        [PROGRAM, "prof", "--quiet", "--json", *words, *map(str, paths)], capture_output=True, text=True, check=True
    ).stdout
    views = {}
    for line in out.splitlines():
        row = json.loads(line)
        row.pop("schema")
        views.setdefault(row.pop("view"), []).append(row)
    return views


def expect_same_file(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oplens.Warning)
        run = oplens.open(path)
        expect_same(run.kernels(columns="all"), printed([path], "-c", "all"))
        tables = run.views("all")
    views = rows_of_views([path], "--view", "all")
    for name, table in tables.items():
        expect_same(table, views.get(name, []))
    assert set(views) <= set(tables)


def test_same_figures_as_the_program(demo):
    expect_same_file(demo)


@pytest.mark.skipif(not os.environ.get("OPLENS_CORPUS_DIR"), reason="no corpus")
def test_same_figures_over_the_corpus():
    corpus = pathlib.Path(os.environ["OPLENS_CORPUS_DIR"])
    endings = (".json.gz", ".sql.gz", ".sqlite.gz", ".nvvp.gz", ".nvprof.gz", ".prof.gz")
    checked = 0
    for path in sorted(corpus.rglob("*")):
        if not path.name.endswith(endings) or "golden" in path.parts or not path.is_file():
            continue
        try:
            oplens.open(path)
            if subprocess.run([PROGRAM, "prof", "--quiet", path], capture_output=True).returncode != 0:
                continue
        except oplens.Error:
            continue
        expect_same_file(path)
        checked += 1
    assert checked > 50


def test_words_are_those_of_prof(demo):
    run = oplens.open(demo)
    table = run.kernels(where="dir=bprop and sil>1us", columns=["idx", "op", "sil"], top=3, sort="-sil")
    expect_same(table, printed([demo], "--where", "dir=bprop and sil>1us", "-c", "idx,op,sil", "--top=3", "--sort=-sil"))
    expect_same(run.kernels(by=["op", "dir"], top=4), printed([demo], "--by", "op,dir", "--top=4"))
    expect_same(run.kernels(copies=True), printed([demo], "--copies"))
    hta = run.view("operators", compat="torch")
    expect_same(hta, printed([demo], "--view", "operators", "--compat", "torch"))
    assert "overview" in oplens.views()


def test_tables(demo):
    table = oplens.open(demo).kernels(columns=["op", "sil", "flops", "layer", "grid"])
    assert table.columns == ["op", "sil", "flops", "layer", "grid"]
    assert [field.unit for field in table.fields][1] == "ns"
    assert table[-1] == list(table)[-1]
    assert table["sil"] == [row["sil"] for row in table]
    assert table.to_dict()["op"] == table["op"]
    with pytest.raises(IndexError):
        table[len(table)]
    with pytest.raises(KeyError):
        table["nothing"]
    assert "sil [ns]" in repr(table) and repr(table).count("\n") == 22
    assert "<table>" in table._repr_html_() and "<script" not in table._repr_html_()


def test_arrow_consumers(demo):
    table = oplens.open(demo).kernels(columns="all")
    pyarrow = pytest.importorskip("pyarrow")
    arrow = table.to_arrow()
    arrow.validate(full=True)
    assert pyarrow.types.is_dictionary(arrow.schema.field("op").type)
    assert arrow.schema.field("sil").type == pyarrow.int64()
    assert arrow.schema.field("sil").metadata[b"unit"] == b"ns"
    assert arrow.to_pydict() == table.to_dict()
    assert pyarrow.schema(table).names == table.columns
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns and len(frame) == len(table)
    assert frame["sil"].sum() == sum(table["sil"])
    assert isinstance(frame["flops"].dtype, pandas.Int64Dtype)
    assert frame["flops"].isna().sum() == sum(value is None for value in table["flops"])
    assert isinstance(frame["grid"].dtype, pandas.ArrowDtype)
    for key in table.columns:
        # Null is None, NaN or NA by the type of the column.
        values = [value if isinstance(value, list) else None if pandas.isna(value) else value for value in frame[key]]
        assert values == table[key], key
    assert frame.groupby("op", observed=True)["sil"].sum().sum() > 0
    polars = pytest.importorskip("polars")
    columns = table.to_polars()
    assert columns.to_dict(as_series=False)["op"] == table["op"]
    assert columns["flops"].null_count() == sum(value is None for value in table["flops"])
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select sum(sil), count(*) from arrow").fetchall() == [(sum(table["sil"]), len(table))]
    assert polars and duckdb


def test_arrow_files_of_the_program(demo, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    run = oplens.open(demo)
    for table, words in (
        (run.kernels(columns="all"), ["-c", "all"]),
        (run.view("operators"), ["--view", "operators"]),
        (run.view("losses"), ["--view", "losses"]),
        (run.kernels(where="sil<0"), ["--where", "sil<0"]),
    ):
        path = tmp_path / "table.arrow"
        subprocess.run([PROGRAM, "prof", "--quiet", "--arrow", path, *words, demo], check=True)
        with pyarrow.memory_map(str(path)) as file:
            read = pyarrow.ipc.open_file(file).read_all()
            read.validate(full=True)
            assert read.to_pydict() == table.to_dict()
            assert read.schema.equals(table.to_arrow().schema, check_metadata=True)
        assert polars.read_ipc(path).height == len(table)


def test_tables_outlive_their_run(demo):
    run = oplens.open(demo)
    table = run.kernels()
    run.close()
    del run
    gc.collect()
    assert len(table["op"]) == len(table)
    with pytest.raises(oplens.Error, match="closed"):
        closed = oplens.open(demo)
        closed.close()
        closed.kernels()


def test_summary_is_the_screen(demo):
    summary = oplens.open(demo).summary()
    screen = subprocess.run([PROGRAM, demo], capture_output=True, text=True, check=True).stdout
    assert summary.text == screen
    assert str(summary) == summary.text
    assert "<pre>" in summary._repr_html_() and "<script" not in summary._repr_html_()
    assert oplens.open(demo)._repr_html_() == summary._repr_html_()


def test_page_and_timeline_are_those_of_the_programs(demo, tmp_path):
    run = oplens.open(demo)
    run.view("overview")
    run.report(tmp_path / "mine.html", title="t")
    run.timeline(tmp_path / "mine.json")
    subprocess.run([PROGRAM, "report", "--quiet", "--title", "t", "-o", tmp_path / "its.html", demo], check=True)
    subprocess.run([PROGRAM, "timeline", "--quiet", "-o", tmp_path / "its.json", demo], check=True)
    assert (tmp_path / "mine.html").read_bytes()[:15] == b"<!DOCTYPE html>"[:15]
    assert abs((tmp_path / "mine.html").stat().st_size - (tmp_path / "its.html").stat().st_size) < 4096
    assert (tmp_path / "mine.json").read_bytes() == (tmp_path / "its.json").read_bytes()
    with pytest.raises(oplens.Error):
        run.timeline(tmp_path / "no folder" / "x.json")
    with pytest.raises(oplens.UsageError):
        run.report(tmp_path / "x.html", nothing=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["its.html", "its.json", "mine.html", "mine.json"]


def test_the_input_is_never_overwritten(demo, tmp_path):
    copy = tmp_path / "copy.sql"
    copy.write_bytes(pathlib.Path(demo).read_bytes())
    run = oplens.open(copy)
    for write in (run.report, run.timeline):
        with pytest.raises(oplens.UsageError):
            write(copy)
    assert copy.read_bytes() == pathlib.Path(demo).read_bytes()


def test_diff(demo):
    diff = oplens.diff(demo, oplens.open(demo), all=True)
    out = subprocess.run(
        [PROGRAM, "diff", "--quiet", "--all", "--json", demo, demo], capture_output=True, text=True, check=True
    ).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["view"] for row in rows].count("diff_operators") == len(diff.tables["operators"])
    assert [row["run"] for row in diff.total] == ["base", "new"]
    assert diff.causes.name == "diff_causes"
    assert diff.text and "<pre>" in diff._repr_html_()


def test_price():
    cost = oplens.price("aten::mm", shapes=[(64, 32), (32, 16)], dtype="bf16", gpu="H200")
    assert cost.flops == 2 * 64 * 32 * 16
    assert cost.bytes == 2 * (64 * 32 + 32 * 16 + 64 * 16)
    assert cost.backward_flops == 2 * cost.flops
    assert cost.roof_ns is not None and cost.roof_ns > 0
    assert oplens.price("mm", shapes=[(64, 32), (32, 16)]).roof_ns is None
    assert oplens.price("add", shapes=[(8,), (8,)]).flops_mma == 0
    for wrong in (
        lambda: oplens.price("aten::nothing", shapes=[(1,)]),
        lambda: oplens.price("mm", shapes=[(64, 32), (33, 16)]),
        lambda: oplens.price("mm", shapes=[(64, 32), (32, 16)], dtype="float17"),
        lambda: oplens.price("mm", shapes=[(-1, 2), (2, 3)]),
        lambda: oplens.price("mm", shapes=[(1, 2), (2, 3)], gpu="H100"),
        lambda: oplens.price("mm", shapes=[(1, 2), (2, 3)], args=[object()]),
    ):
        with pytest.raises(oplens.UsageError):
            wrong()


def test_what_can_be_opened(demo, tmp_path):
    expected = oplens.open(demo).view("overview").to_dict()
    content = pathlib.Path(demo).read_bytes()
    with open(demo, "rb") as file:
        assert oplens.open(file).view("overview").to_dict() == expected
    assert oplens.open(pathlib.Path(demo)).view("overview").to_dict() == expected
    assert oplens.open(os.fsencode(demo)).view("overview").to_dict() == expected
    assert oplens.open(content).view("overview").to_dict() == expected
    assert oplens.open(bytearray(content)).view("overview").to_dict() == expected
    for name in ("rank0.sql", "rank1.sql"):
        (tmp_path / name).write_bytes(content)
    folder = oplens.open(tmp_path)
    files = oplens.open([tmp_path / "rank0.sql", tmp_path / "rank1.sql"])
    assert folder.view("ranks").to_dict() == files.view("ranks").to_dict()
    expect_same(folder.view("ranks"), printed([tmp_path], "--view", "ranks"))


class Failing(io.RawIOBase):
    def read(self, size=-1):
        raise OSError("the disk is gone")


def test_errors(demo, tmp_path):
    with pytest.raises(oplens.Error) as missing:
        oplens.open("no such file.json")
    assert missing.value.kind == "input" and "no such file.json" in str(missing.value)
    run = oplens.open(demo)
    with pytest.raises(oplens.UsageError, match="sill") as wrong:
        run.kernels(columns=["sill"])
    assert wrong.value.kind == "usage" and isinstance(wrong.value, ValueError)
    for ask in (
        lambda: run.view("nothing"),
        lambda: run.view("overview,gpu"),
        lambda: run.kernels(where="sil>"),
        lambda: run.kernels(output="x"),
        lambda: run.kernels(columns="si\0l"),
        lambda: oplens.open(demo, gpu="nothing"),
        lambda: oplens.open(demo, output="x"),
        lambda: oplens.open([]),
        lambda: oplens.open(io.StringIO("text")),
        lambda: oplens.open("-"),
    ):
        with pytest.raises(oplens.Error):
            ask()
    with pytest.raises(OSError, match="disk"):
        oplens.open(Failing())
    with pytest.raises(TypeError):
        oplens.open(3)
    cut = tmp_path / "cut.json"
    cut.write_bytes(b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel"')
    with pytest.warns(oplens.Warning) as lost:
        try:
            oplens.open(cut).kernels()
        except oplens.Error:
            warnings.warn("an error says so too", oplens.Warning)
    assert len(lost) > 0
    assert len(run.kernels()) > 0


def test_nothing_is_printed(demo, tmp_path):
    (tmp_path / "rank0.sql").write_bytes(pathlib.Path(demo).read_bytes())
    (tmp_path / "rank1.json").write_bytes(b'{"schemaVersion": 1')
    program = f"""
import warnings, oplens
warnings.simplefilter("ignore")
run = oplens.open({str(tmp_path)!r}, progress=False)
run.kernels(); run.view("overview"); run.summary(); oplens.diff(run, run)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    with pytest.warns(oplens.Warning, match="rank1.json"):
        oplens.open(tmp_path).view("overview")


def test_progress(demo):
    seen = []
    run = oplens.open(demo, progress=lambda done, total: seen.append((done, total)))
    run.kernels()
    assert all(done >= 0 and total >= 0 for done, total in seen)


def test_threads(demo):
    expected = oplens.open(demo).view("operators").to_dict()
    shared = oplens.open(demo)
    answers, problems = [], []

    def ask(run):
        try:
            for _ in range(3):
                answers.append(run.view("operators").to_dict())
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=ask, args=(run,)) for run in (shared, shared, oplens.open(demo), oplens.open(demo))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems and len(answers) == 12
    assert all(answer == expected for answer in answers)


def test_a_fork_can_ask(demo):
    run = oplens.open(demo)
    expected = run.view("operators").to_dict()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if run.view("operators").to_dict() == expected else 2
        finally:
            os._exit(code)
    os.close(read)
    os.close(write)
    assert os.waitpid(child, 0)[1] == 0
    assert run.view("operators").to_dict() == expected


def test_many_opens_do_not_leak(demo):
    program = f"""
import gc, oplens, resource, os
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def once():
    run = oplens.open({demo!r})
    for _ in range(2):
        table = run.kernels(columns="all")
        table.to_dict()
        table.__arrow_c_stream__(); table.__arrow_c_schema__()
    run.view("operators")
    try:
        run.view("nothing")
    except oplens.Error:
        pass
for _ in range(10): once()
gc.collect(); before = rss()
for _ in range(60): once()
gc.collect(); print(rss() - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
    # One run of these takes more than a megabyte.
    assert grown < 20e6


def test_exceptions_of_progress_end_the_question(demo):
    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    run = oplens.open(demo, progress=stop)
    try:
        # Fast work ends before anybody looks.
        run.kernels()
    except Stop:
        pass
    assert len(oplens.open(demo).kernels()) > 0


def test_interrupt(demo):
    program = f"""
import oplens
run = oplens.open({demo!r})
try:
    print(len(run.kernels()), flush=True)
    while True:
        run.view("advice")
except KeyboardInterrupt:
    print(len(run.kernels()), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == first
    assert process.wait() == 0


def test_oplens_annotate_comes_with_its_sources(tmp_path):
    """Without PyTorch: what it says of itself, and that its sources are all there, by a library of them."""
    program = """
import sys
import oplens_annotate
from oplens_annotate import _build, _library
assert _build.SOURCES.startswith(sys.prefix), _build.SOURCES
assert len(_build.source_files()) > 40 and _build.digest()
assert oplens_annotate.ProfilerAction.RECORD
try:
    _build.build_plain_library(sys.argv[1])
except _build.BuildError as error:
    print("not built:", error)
else:
    import ctypes
    print("version", ctypes.CDLL(sys.argv[1]).oplens_abi_version())
"""
    if not (pathlib.Path(oplens.__file__).parent.parent / "oplens_annotate").exists():
        pytest.skip("not installed from a wheel")
    command = [sys.executable, "-c", program, tmp_path / "plain.so"]
    env = {**os.environ, "CXXFLAGS": "-O0"}
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert result.returncode == 0, result.stderr
    if "NVTX's headers" in result.stdout or "no C++ compiler" in result.stdout:
        pytest.skip(result.stdout)
    assert re.fullmatch(r"version [1-9]\d*\n", result.stdout), result.stdout


def test_programs(demo):
    bin_folder = pathlib.Path(sys.executable).parent
    for name, words in (
        ("oplens", [demo]),
        ("oplens-prof", ["--by", "op", demo]),
        ("oplens-parse", [demo]),
        ("oplens-report", ["-h"]),
        ("oplens-record", ["-h"]),
    ):
        if not (bin_folder / name).exists():
            pytest.skip("not installed from a wheel")
        result = subprocess.run([bin_folder / name, *words], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert result.stdout


def test_examples_of_docstrings(demo):
    for module in (oplens, oplens._run, oplens._table):
        failed, tried = doctest.testmod(module, extraglobs={"demo": demo})
        assert failed == 0
        assert tried > 0
