"""check.py FOLDER REASONS FAMILY.PROGRAM: looks at what family.py found of a program. The exit code is 1 where
there is a fault that REASONS does not list or a line too many in it, and 77 where PyTorch is missing.
check.py --all FOLDER REASONS: the same of what stands in REASONS for all programs, in FOLDER/*.

A line of REASONS, in the section [FAMILY.PROGRAM]: "FAULT: COUNT - REASON". In the section [*] stands what
holds for every program, a pattern and a reason: "PATTERN - REASON". What stands in a section [NAME with N] is so
with version N of PyTorch only, and comes before what [NAME] says.
"""
import collections
import fnmatch
import json
import pathlib
import sys

EXAMPLES = 3  # Of a fault.


def read_reasons(path, version):
    """Section -> {fault: count}; of "*", {pattern: 0}. `version`: of PyTorch."""
    sections, special = collections.defaultdict(dict), collections.defaultdict(dict)
    into = None
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section, _, number = line.strip("[]").partition(" with ")
            if number:
                into = special[section] if number == version.split(".")[0] else {}
            else:
                into = sections[section]
            continue
        fault, _, reason = line.partition(" - ")
        if not reason:
            sys.exit(f"{path}: without a reason: {line}")
        fault, count = (fault, 0) if section == "*" else fault.rsplit(": ", 1)
        into[fault] = int(count)
    for section, faults in special.items():
        sections[section].update(faults)
    return sections


def read_result(folder, program):
    folder = pathlib.Path(folder)
    if (folder / "skipped").exists():
        print((folder / "skipped").read_text(encoding="utf-8"))
        sys.exit(77)
    return json.loads((folder / f"{program}.json").read_text(encoding="utf-8"))


def check(folder, path, name):
    result = read_result(folder, name.partition(".")[2])
    reasons = read_reasons(path, result["version"])
    listed = reasons[name]
    faults = collections.defaultdict(list)
    for fault, details in result["faults"]:
        if not any(fnmatch.fnmatchcase(fault, pattern) for pattern in reasons["*"]):
            faults[fault].append(details)
    wrong = 0
    print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in result["counts"].items()))
    for fault in sorted(set(faults) | set(listed)):
        count = len(faults[fault])
        if count == listed.get(fault, 0):
            continue
        wrong += 1
        print(f"  {fault}: {count}" + (f", {listed[fault]} listed" if fault in listed else ""))
        for details in faults[fault][:EXAMPLES]:
            print(f"      {str(details)[:600]}")
    if not result["counts"].get("op") and not result["counts"].get("price"):
        wrong += 1
        print("  nothing was observed")
    return wrong == 0


def check_all(folder, path):
    """Each pattern is needed, and each section is that of a program."""
    results = {}
    for file in pathlib.Path(folder).glob("*/*.json"):
        result = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(result, dict) and "faults" in result:
            results[f"{file.parent.name}.{file.stem}"] = result
    reasons = read_reasons(path, max((result["version"] for result in results.values()), default=""))
    unused, programs = set(reasons["*"]), set(results)
    for result in results.values():
        for fault, _ in result["faults"]:
            unused = {pattern for pattern in unused if not fnmatch.fnmatchcase(fault, pattern)}
    for pattern in sorted(unused):
        print(f"not needed: {pattern}")
    strangers = set(reasons) - programs - {"*"}
    for name in sorted(strangers):
        print(f"no program: {name}")
    return not unused and not strangers


def main():
    if sys.argv[1] == "--all":
        good = check_all(sys.argv[2], sys.argv[3])
    else:
        folder, path, name = sys.argv[1:]
        good = check(folder, path, name)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
