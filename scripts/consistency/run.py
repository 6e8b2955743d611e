"""What views, screen and page say of a run, and what relations ask of it."""
import collections

# The parts of a step (overview), and which causes of idle time are which part.
WORK = ("kernel_ns", "memcpy_ns", "memset_ns", "comm_ns")
HOST = ("runtime_ns", "dataloader_ns", "cpu_ns")
PARTS = WORK + HOST + ("other_ns",)
CAUSES_OF_PART = {
    "runtime_ns": {"launch", "module-load", "sync", "pageable-copy", "api-call"},
    "dataloader_ns": {"dataloader"},
    "cpu_ns": {"host-op", "communication"},
    "other_ns": {"queued", "cold-start", "python", "other-stream"},
}
# What is in no share of a run without steps.
OUTSIDE = ("cold-start", "tail")
# Time of these is what any thread does.
OF_ANY_THREAD = ("tail", "unknown")
# The causes of idle time of which a verdict speaks.
CAUSES_OF_VERDICT = {
    "host": {"launch", "host-op", "python"}, "module-load": {"module-load"}, "api-call": {"api-call"}, "sync": {"sync"},
    "pageable-copy": {"pageable-copy"}, "dataloader": {"dataloader"}, "communication": {"communication"},
    "queued": {"queued"}, "tail": {"tail"}, "unknown": {"unknown"},
}
REPLAYS = "(graph replay)"
ROOT_SHARE = 0.1
MOST_GAPS = 1000
HISTOGRAM = 1.016

# Of relations. Figures in whole ns are exact.
EQUAL, AT_MOST, HOLDS = "=", "<=", "holds"
NEARLY = 1e-9


# (Run, relation): why it does not hold.
EXCEPTIONS = {
    ("nvprof/lm.sql", "copies and memsets of steps are some of bandwidth"):
        "a memset of 93 MB in 1.4 us: bandwidth has no time of work of an impossible rate",
}


class Run:
    """What is said of one run: rows of views by "view" or "view by keys", lines of its screen, tables of its page."""

    def __init__(self, tables, screen=None, page=None):
        self.tables = tables
        self.screen = screen
        self.page = page

    def has(self, table):
        return {"screen": self.screen, "page": self.page}.get(table, self.tables.get(table)) is not None

    def rows(self, table, **where):
        return [row for row in self.tables[table] if all(row[key] == value for key, value in where.items())]

    def ranks(self):
        return list(dict.fromkeys(row["rank"] for row in self.rows("overview")))

    def devices(self, rank):
        return sorted({row["device"] for row in self.rows("idle", rank=rank)})

    def ranks_of_one_gpu(self):
        return [rank for rank in self.ranks() if len(self.devices(rank)) == 1]

    def steps(self, rank):
        return [row for row in self.rows("overview", rank=rank) if row["step"] != "mean"]

    def numbered(self, rank):
        """The sums of the steps of each number, of which there may be several."""
        numbered = collections.defaultdict(collections.Counter)
        for row in self.steps(rank):
            numbered[int(row["step"])].update({key: value or 0 for key, value in row.items() if key.endswith("_ns")})
        return numbered

    def counted(self, rank):
        """The steps that the mean is over: the steady ones, or all if none is."""
        steps = self.steps(rank)
        return [row for row in steps if row["state"] == "steady"] or steps

    def mean(self, rank):
        return next(iter(self.rows("overview", rank=rank, step="mean")), None)

    def causes(self, table, **where):
        """Idle time by cause, and of "(all)"."""
        causes = collections.Counter()
        for row in self.rows(table, **where):
            causes[row["cause"]] += row["idle_ns"]
        return causes

    def causes_counted(self, rank):
        """Idle time by cause over the steps that the mean is over, of a rank with one GPU."""
        numbers = {int(row["step"]) for row in self.counted(rank)}
        causes = collections.Counter()
        for row in self.rows("idle by step", rank=rank):
            if row["step"] in numbers:
                causes[row["cause"]] += row["idle_ns"]
        return causes

    def has_distinct_steps(self, rank):
        """Whether no step that counts has the number of one that does not."""
        counted = self.counted(rank)
        others = [row["step"] for row in self.steps(rank) if row not in counted]
        return not {row["step"] for row in counted} & set(others)


def sum_of(rows, *keys):
    return sum(row[key] or 0 for row in rows for key in keys)


def sum_in(causes, words):
    return sum(causes[word] for word in words)


def busy_of(rows):
    return sum_of(rows, *WORK)


def percent(part, whole):
    return 100 * part / whole if whole else None


def name_of(rank, row=None):
    words = ([] if rank is None else [f"rank {rank}"]) + ([] if row is None else [f"step {row}"])
    return " ".join(words) or "the run"


def texts_of(pct):
    """How a share is printed: of a half, either way."""
    values = (pct * (1 - NEARLY), pct * (1 + NEARLY))
    return list({"<0.1" if 0 < value < 0.05 else f"{value:.1f}" for value in values})
