"""Relations between the screen or the page of a run and its views."""
import collections
import math
import re

from consistency.run import AT_MOST, EQUAL, HOLDS, NEARLY, OUTSIDE, name_of, percent, sum_of, texts_of

BAR = re.compile(r"^  (\S.*?) +(<?[0-9.]+) % +(<?\S+ (?:ns|us|ms|s))(?:  (#+))?$")
TITLE = re.compile(r"(A|The only|The) (step|steady|run|repetition)")
BARS = [("compute", "kernel_ns"), ("copies", "memcpy_ns"), ("fills", "memset_ns"), ("communication alone", "comm_ns"),
        ("API calls", "runtime_ns"), ("data loader", "dataloader_ns"), ("host ops", "cpu_ns"), ("queued", "queued_ns"),
        ("cold start", "cold_ns"), ("nothing recorded", "other_ns")]
BAR_COLUMNS = 58
MOST_CAUSES = 3


def time_texts(ns):
    texts = set()
    for value in (ns * (1 - NEARLY), ns * (1 + NEARLY)):
        unit, word = next(((unit, word) for unit, word in ((1e9, "s"), (1e6, "ms"), (1e3, "us"))
                           if value >= unit * 0.9995), (1, "ns"))
        if word == "ns":
            texts.add(f"{value:.0f} ns")
            continue
        rate = value / unit
        texts.add(f"{rate:.{2 if rate < 9.995 else 1 if rate < 99.95 else 0}f} {word}")
    return texts


def flat(lines):
    return " ".join(" ".join(lines).split())


def paragraph(lines, start):
    """A line that begins so, and those that go on with it."""
    for i, line in enumerate(lines):
        if line.startswith(start):
            end = i + 1
            while end < len(lines) and lines[end].startswith("    "):
                end += 1
            return flat(lines[i:end])
    return None


def shown_rank(run):
    """The rank that computes longest; of one rank it is the first."""
    ranks = run.rows("distributed", step="mean")
    if len(run.ranks()) < 2 or not ranks:
        return run.ranks()[0] if run.ranks() else None
    return max(ranks, key=lambda row: row["computation_ns"] + row["overlap_ns"])["rank"]


def is_of_run(run, rank):
    return any(row["steps"] == 0 for row in run.rows("verdict", rank=rank))


def outside_ns_of(run, rank):
    """A run without steps counts from its cold start to its last work."""
    mean = run.mean(rank)
    return sum_of([mean], "cold_ns", "end_ns") if mean and is_of_run(run, rank) else 0


def screen_bars(run):
    mean = run.mean(shown_rank(run))
    if mean is None or not mean["total_ns"]:
        return
    total_ns = mean["total_ns"] - outside_ns_of(run, shown_rank(run))
    outside = ("cold_ns", "end_ns") if is_of_run(run, shown_rank(run)) else ()
    parts = {}
    for word, key in BARS:
        ns = (mean[key] or 0) - (sum_of([mean], "queued_ns", "cold_ns", "end_ns") if key == "other_ns" else 0)
        if ns > 0 and key not in outside:
            parts[word] = ns
    lines = run.screen
    title = next((i for i, line in enumerate(lines) if TITLE.match(line)), None)
    yield "title", title is not None, HOLDS, "of the time is there"
    bars = []
    for line in lines[title + 1 if title is not None else len(lines):]:
        match = BAR.match(line)
        if match:
            bars.append(match.groups())
        elif bars:
            break
    named = [word for word, *_ in bars]
    for word, pct, time, bar in bars:
        ns = parts.get(word)
        if word == "others":
            ns = sum(ns for other, ns in parts.items() if other not in named)
        yield word, ns is not None, HOLDS, "is a part that is not 0"
        if ns is not None:
            share = percent(ns, total_ns)
            yield word, pct in texts_of(share), HOLDS, f"{pct} % is {share} %"
            yield word, time in time_texts(ns), HOLDS, f"{time} is {ns} ns"
            yield word, abs(len(bar or "") - share / 100 * BAR_COLUMNS), AT_MOST, 0.5
    for word, ns in parts.items():
        yield word, word in named or "others" in named, HOLDS, f"{ns} ns are shown"
    busy = mean["busy_pct"] and mean["busy_pct"] * mean["total_ns"] / total_ns
    text = paragraph(lines, "  GPU")
    if busy is not None and text is not None:
        shown = any(f"busy {pct} %" in text for pct in texts_of(busy))
        yield "busy", shown, HOLDS, f"{busy} % in '{text}'"


def screen_verdict(run):
    text = flat(run.screen)
    for row in run.rows("verdict", rank=shown_rank(run)):
        sentence = flat([row["verdict"]])
        several = len(run.ranks()) > 1
        begin = f"Rank {row['rank']}: {sentence}" if several else sentence[0].upper() + sentence[1:]
        # Of a long one the end is left out.
        cut = next((end for end in range(len(begin), 0, -1) if begin[:end] + "..." in text), 0)
        yield name_of(row["rank"]), begin in text or cut > 60, HOLDS, f"'{begin}' is on the screen"


def screen_idle(run):
    rank = shown_rank(run)
    gpus = run.rows("gpu", rank=rank)
    outside_ns = outside_ns_of(run, rank)
    total_ns = sum_of(run.counted(rank), "total_ns") - outside_ns
    text = paragraph(run.screen, "  Idle ")
    if not gpus or not total_ns or text is None:
        return
    device = max(gpus, key=lambda row: row["busy_ns"])["device"]
    numbers = {int(row["step"]) for row in run.counted(rank)}
    shares = collections.Counter()
    for row in run.rows("idle by step", rank=rank, device=device):
        if row["step"] in numbers:
            shares[row["cause"]] += percent(row["idle_ns"], total_ns)
    whole = shares.pop("(all)", 0) - percent(outside_ns, total_ns)
    if is_of_run(run, rank):
        for cause in OUTSIDE:
            shares.pop(cause, None)
    match = re.match(r"Idle (\S+) %(?:: (.*?))?(?:; |$)", text)
    yield "idle", match is not None and match.group(1) in texts_of(whole), HOLDS, f"{whole} % in '{text}'"
    shown = re.findall(r"([^,:]+) (\S+) %(?:, |$)", match.group(2) or "") if match else []
    largest = [pct for pct in sorted(shares.values(), reverse=True)[:MOST_CAUSES]]
    for i, (cause, pct) in enumerate(shown):
        share = shares[cause.replace("python or other code", "python")]
        yield cause, pct in texts_of(share), HOLDS, f"{pct} % is {share} %"
        yield f"{cause}: place {i + 1}", share, EQUAL, largest[i]
    yield "causes", len(shown), EQUAL, max(min(1, len(largest)), sum(pct >= 0.05 for pct in largest))


# The page.

def page_tables(run):
    for view, rows in run.page.items():
        expected = run.rows(view)
        yield f"{view}: rows", len(rows), EQUAL, len(expected)
        for number, (row, other) in enumerate(zip(rows, expected)):
            for key, value in row.items():
                # Long paths are cut on a page.
                if isinstance(value, str) and "/" in value:
                    continue
                # Integers beyond 2^53 are texts.
                same = value == other[key] or str(value) == str(other[key])
                # Decimals of a page have ten digits.
                if isinstance(value, (int, float)) and isinstance(other[key], float):
                    same = same or math.isclose(value, other[key], rel_tol=1e-9)
                yield f"{view}: row {number}: {key}", same, HOLDS, f"{value} is {other[key]}"
