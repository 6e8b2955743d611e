#!/bin/bash
# Plants faults in made-up runs (make_ranks.py), each with fixed seeds, and prints how many the views `culprits` and `stragglers` name:
#
#     bench/ranks/faults.sh BIN [--view VIEWS] [--only WORD] [--clean N,N,N,N] [--large]
#
# BIN: folder of the program prof. named: the rank, node or group with a right cause; wrong: rows that name
# anything else; missed; false alarms: rows about time in runs without a fault. --clean: how many of these of
# 8, 64 and 512 ranks, and of 8 ranks with 1 to 5 steps (20, none, none, 9); --large: faults in 32 and 64 ranks too.
# All false alarms: faults.sh BIN --only clean --clean 170,25,5,9, which takes half an hour and 2 GB in $TMPDIR.
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/faults.py" "$@"
