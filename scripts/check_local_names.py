#!/usr/bin/env python3
"""Checks that no constant of a single .cc file has the name of one that headers declare where it would hide it.

    check_local_names.py [ROOT]
    check_local_names.py --self-test

Files are compiled in batches, as if each batch were one file: a header that is first included behind
`constexpr size_t kNoLaunch = 1;` of an unnamed namespace would mean that one in its inline functions. Exit code 1
where there is such a constant.
"""
import pathlib
import re
import sys
import tempfile

CONSTANT = re.compile(r"^(?:inline |static )*constexpr [\w:<>,*& ]+?[ *&](k[A-Z]\w*)\b(?= ?[=\[{;(])", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
FOLDERS = ("base", "engine", "mpi", "nvtx_annotate", "oplens", "ops", "parse", "prof", "record", "report")


def space_of(text):
    """The namespace of a file, without unnamed ones."""
    found = NAMESPACE.search(text)
    return found.group(1) if found else ""


def hidden(root):
    """Each (file, name, header), of constants in the same namespace or in one around it."""
    declared, local = {}, []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]*")):
            if path.suffix not in (".h", ".cc") or "node_modules" in path.parts:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            name = str(path.relative_to(root))
            if path.suffix == ".h":
                for constant in CONSTANT.findall(text):
                    declared.setdefault(constant, []).append((space_of(text), name))
                continue
            for body in UNNAMED.findall(text):
                local += [(space_of(text), name, constant) for constant in CONSTANT.findall(body)]
    for space, name, constant in local:
        for other, header in declared.get(constant, []):
            if (space + "::").startswith(other + "::"):
                yield name, constant, header


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "parse").mkdir()
        (root / "parse/a.h").write_text("namespace oplens {\ninline constexpr int kNone = 0;\n"
                                        "constexpr std::array<int, 2> kTwo = {};\n}  // namespace oplens\n")
        (root / "parse/b.cc").write_text("namespace oplens::parse {\nnamespace {\nconstexpr int kNone = 1;\n"
                                         "constexpr int kOwn = 1;\n}  // namespace\n}\n")
        (root / "parse/c.cc").write_text("namespace other {\nnamespace {\nconstexpr int kNone = 1;\n}  // namespace\n}\n")
        (root / "parse/d.cc").write_text("namespace oplens {\nvoid F() {\n  constexpr int kTwo = 1;\n}\nnamespace {\n"
                                         "constexpr const char* kTwo = nullptr;\n}  // namespace\n}\n")
        expected = [("parse/b.cc", "kNone", "parse/a.h"), ("parse/d.cc", "kTwo", "parse/a.h")]
        assert list(hidden(root)) == expected, list(hidden(root))
    print("the self-test passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = list(hidden(root))
    for name, constant, header in found:
        print(f"{name}: {constant} hides the one of {header}; name it otherwise")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
