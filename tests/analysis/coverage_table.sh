#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of coverage by room, from the counters in the working folder: files in
# ../coverage.txt, rooms on standard output.  The CUDA and NCCL rooms, which need a
# GPU, are counted apart.
set -eu

source=${1:-../source}
gcovr -r "$source" --object-directory . --json-summary ../coverage.json \
    --exclude-throw-branches --exclude-unreachable-branches \
    --exclude-branches-by-pattern '.*\bassert\(.*' \
    -f "$source/src/" -f "$source/models/" -f "$source/solvers/" \
    -f "$source/exec/" --txt ../coverage.txt .
python3 - ../coverage.json <<'EOF'
import json
import sys

gpu = ("exec/backend/cuda/", "exec/transport/nccl/")
rooms = {}
for file in json.load(open(sys.argv[1]))["files"]:
    name = file["filename"]
    room = "gpu" if name.startswith(gpu) else name.split("/")[0]
    for part in (room, "/".join(name.split("/")[:2])):
        row = rooms.setdefault(part, [0, 0, 0, 0])
        row[0] += file["line_covered"]
        row[1] += file["line_total"]
        row[2] += file["branch_covered"]
        row[3] += file["branch_total"]
print(f"{'room':24} {'lines':>8} {'covered':>8} {'branches':>9} {'covered':>8}")
for room in sorted(rooms):
    lines, n, branches, m = rooms[room]
    print(f"{room:24} {n:8} {100 * lines / max(n, 1):7.1f}% {m:9} "
          f"{100 * branches / max(m, 1):7.1f}%")
EOF
