"""Programs with a capture schedule, and comparisons with torch.profiler: schedule_cases.py COMMAND."""
import itertools
import os
import signal
import random
import sys
import threading
import warnings

import torch
import torch.profiler

import oplens_annotate


class Log:
    """What torch.profiler does, a letter for each action in order, as oplens_annotate has them."""

    def __init__(self, schedule):
        log = self.log = []

        class Logged(torch.profiler.profile):
            def prepare_trace(self):
                log.append("P")

            def start_trace(self):
                log.append("S")

            def stop_trace(self):
                log.append("X")

        self.profile = Logged(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule,
                              on_trace_ready=self._ready)

    def _ready(self, profile):
        self.log.append(f"T{profile.step_num}{profile.current_action.name}")


class OwnLog:
    """The same of oplens_annotate. The letters of the library tell the order; a callback for each T."""

    def __init__(self, schedule):
        self.log = []
        self._told = []
        self.profile = oplens_annotate.profile(
            schedule=schedule, on_trace_ready=self._ready, with_modules=False)
        for name in ("start", "step", "stop"):
            setattr(self, name, self._logged(getattr(self.profile, name)))

    def _ready(self, profile):
        self._told.append(f"T{profile.step_num}{profile.current_action.name}")

    def _logged(self, call):
        def logged():
            call()
            for letter in self.profile._done.replace("W", ""):
                self.log.append(self._told.pop(0) if letter == "T" else letter)
            self.profile._done = ""
            assert not self._told

        return logged


def compare(theirs, ours, steps):
    """The log of a program of so many steps that then ends, warnings among it."""
    logs = []
    for kind, schedule in ((Log, theirs), (OwnLog, ours)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            logged = kind(schedule)
            runs = logged.profile if kind is Log else logged
            actions = [logged.profile.current_action.name]
            runs.start()
            for _ in range(steps):
                runs.step()
                actions.append(logged.profile.current_action.name)
            runs.stop()
            logged.log.append([str(warning.message) for warning in caught])
            logged.log.append(actions)
        logs.append(logged.log)
    assert logs[0] == logs[1], (steps, logs)


def like_torch():
    """Every schedule of small numbers, left after any number of steps."""
    warnings.simplefilter("ignore")
    count = 0
    for wait, warmup, active, repeat, skip_first in itertools.product(
            range(3), range(3), range(1, 4), range(3), range(3)):
        plan = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat,
                "skip_first": skip_first}
        theirs, ours = torch.profiler.schedule(**plan), oplens_annotate.schedule(**plan)
        for step in range(60):
            assert theirs(step).name == ours(step).name, (plan, step)
        for steps in range(2 * (wait + warmup + active) + skip_first + 2):
            compare(theirs, ours, steps)
            count += 1
    print(f"{count} runs alike")


def any_actions():
    """Schedules of the user's own: all transitions, those that torch.profiler warns of too."""
    choice = random.Random(3)
    seen = set()
    for _ in range(1500):
        numbers = [choice.randrange(4) for _ in range(choice.randrange(1, 12))]
        theirs = [torch.profiler.ProfilerAction(number) for number in numbers]
        ours = [oplens_annotate.ProfilerAction(number) for number in numbers]
        compare(theirs.__getitem__, ours.__getitem__, len(numbers) - 1)
        # Those of torch.profiler do as well.
        compare(theirs.__getitem__, theirs.__getitem__, len(numbers) - 1)
        seen.update(zip(numbers, numbers[1:] + [4]))
    print(f"{len(seen)} transitions alike")


def without_schedule():
    def run(profile):
        told = []
        profile.on_trace_ready = lambda p: told.append(p.step_num)
        with profile:
            for _ in range(3):
                profile.step()
        return told

    assert run(torch.profiler.profile()) == run(oplens_annotate.profile())
    print("alike")


def skip_first_wait():
    """Not in PyTorch 1.13: by the table."""
    warnings.simplefilter("ignore")
    for wait, warmup, active, repeat, skip in itertools.product(
            range(3), range(3), range(1, 3), range(3), range(3)):
        plan = oplens_annotate.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat,
                                        skip_first=skip, skip_first_wait=1)
        cycle = ["WARMUP"] * warmup + ["RECORD"] * (active - 1) + ["RECORD_AND_SAVE"]
        expected = ["NONE"] * skip + cycle + (["NONE"] * wait + cycle) * (repeat - 1 if repeat else 20)
        expected += ["NONE"] * 40
        assert [plan(step).name for step in range(20)] == expected[:20]
    print("by the table")


def errors():
    """What the user's functions throw comes out of the call; what is no schedule is refused."""
    for plan in ({"active": 0}, {"wait": -1}, {"warmup": -1}, {"repeat": -1}, {"skip_first": -1},
                 {"wait": -2**70}):
        try:
            oplens_annotate.schedule(**{"wait": 0, "warmup": 1, "active": 1, **plan})
        except ValueError:
            continue
        raise AssertionError(plan)
    assert oplens_annotate.schedule(wait=2**70, warmup=1, active=1)(5).name == "NONE"

    def fails(_):
        raise KeyError("of the user")

    profile = oplens_annotate.profile(
        schedule=oplens_annotate.schedule(wait=0, warmup=1, active=1), on_trace_ready=fails)
    profile.start()
    profile.step()
    for call in (profile.step, profile.step, profile.step):
        try:
            call()
        except KeyError:
            break
    else:
        raise AssertionError("no error")
    profile.stop()
    profile.stop()

    with oplens_annotate.profile() as abandoned:  # A second one goes on where the first ended.
        pass
    assert oplens_annotate.profile().cycle == 0
    abandoned.start()
    del abandoned
    print("refused")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


@oplens_annotate.record_function("again", args="depth")
def again(depth):
    if depth > 0:
        again(depth - 1)
    torch.ones(1).neg()


def train(**options):
    """Steps 2, 3 and 6, 7 of ten are recorded."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    told = []
    with oplens_annotate.profile(
            schedule=oplens_annotate.schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=lambda p: told.append(p.cycle), **options) as profile:
        for _ in range(10):
            optimizer.zero_grad()
            with oplens_annotate.record_function("forward pass"):
                loss = net(torch.randn(4, 8)).sum()
            loss.backward()
            optimizer.step()
            again(1)
            profile.step()
    print("cycles", told)


def bare():
    train(record_shapes=False, with_modules=False)


def killed():
    """Ends without stop() in the middle of the second cycle."""
    profile = oplens_annotate.profile(
        schedule=oplens_annotate.schedule(wait=1, warmup=1, active=2))
    profile.start()
    for _ in range(6):
        torch.ones(3).neg()
        profile.step()
    torch.ones(3).abs()
    sys.stdout.flush()
    os._exit(0)


def memory():
    """Known tensors, on two threads."""
    kept = [torch.empty(77)]  # Not recorded: neither is its release.
    with oplens_annotate.profile(profile_memory=True, with_modules=False):
        kept.append(torch.empty(1000))
        kept.append(torch.empty((3, 5), dtype=torch.float64))
        kept[1] = None  # Outside of any op.
        thread = threading.Thread(target=lambda: kept.append(torch.empty(11, dtype=torch.uint8)))
        thread.start()
        thread.join()
        x = torch.ones(10, requires_grad=True)
        y = x * x
        y.sum().backward()
        del kept[0]
        empty = torch.empty(0)
        kept[1].resize_(100)
        del x, y, empty
    kept.clear()  # Nor is that.
    print("done")


def memory_as_torch_sees_it():
    """Both at once: torch.profiler stands in the slot of the main thread."""
    net = Net()
    net(torch.randn(4, 8)).sum().backward()
    with oplens_annotate.profile(profile_memory=True, with_modules=False):
        with torch.profiler.profile(profile_memory=True) as profile:
            for _ in range(3):
                net.zero_grad(set_to_none=True)
                net(torch.randn(4, 8)).sum().backward()
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            print(event.nbytes())


def memory_forked():
    """Children allocate while a thread of the parent does."""
    begun, stop = threading.Event(), threading.Event()

    def churn():
        torch.empty(100)
        begun.set()
        for _ in range(1_000_000):  # An end, whatever goes wrong.
            if stop.is_set():
                return
            torch.empty(100)

    with oplens_annotate.profile(profile_memory=True, with_modules=False):
        thread = threading.Thread(target=churn)
        thread.start()
        begun.wait()  # Looking up its observers, a thread holds a lock of PyTorch's that forks do not free.
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # One that waits for a lock which nobody holds ends too.
                for _ in range(50):
                    torch.empty(100)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert status == 0
        stop.set()
        thread.join()
    print("forked")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
