"""python3 -m oplens_annotate: runs a program that is not touched."""
import argparse
import os
import runpy
import sys

import oplens_annotate


def _main():
    parser = argparse.ArgumentParser(
        prog="python3 -m oplens_annotate",
        description="Runs a PyTorch program with its operators, nodes and layers as NVTX ranges.")
    parser.add_argument("--trace", action="store_true", help="add the call stack of each op")
    parser.add_argument("--no-layers", action="store_true", help="leave out the modules' paths")
    parser.add_argument("--pyprof", action="store_true", help="texts for PyProf's own prof")
    parser.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    oplens_annotate.init(trace=options.trace, layers=not options.no_layers, pyprof=options.pyprof)
    sys.argv = [options.program] + options.arguments
    if options.is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    _main()
