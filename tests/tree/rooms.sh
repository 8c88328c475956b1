#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist no-sanitizers
# Layering check: a room may include itself and the rooms above it in the list,
# never one below; libxml2 stays behind ingest/xml.
. "${top_srcdir:=.}/tests/support/tap.sh"

# Rooms in the order of dependency: a room may include itself and the rooms
# before it. A folder that is not named belongs to the room around it.
rooms="base
    graph graph/build graph/reach
    ingest ingest/graphml ingest/work ingest/zoo ingest/ir ingest/infer
    ingest/openvino ingest/onnx ingest/llm ingest/gguf
    ingest/hf
    coarsen
    cost cost/xml cost/cluster cost/cluster/nccl cost/profile cost/predict
    cost/calibrate cost/instance
    schedule schedule/bound schedule/proof schedule/heuristic schedule/sim schedule/validate
    schedule/period
    models/sink models/frame models models/compact models/paper
    models/baselines models/period models/patterns models/write models/relax
    solvers/formats solvers/process solvers/answer solvers/plugins
    solvers
    solvers/search solvers/search/decomp solvers/search/lp
    solvers/search/bound/forkjoin solvers/search/bound/load
    solvers/search/bound/colgen solvers/search/bound/chain
    solvers/search/primal solvers/search/exact solvers/search/baselines
    solvers/search/period solvers/search/replan solvers/search/rl/nn solvers/search/rl
    solvers/search/driver
    report report/page driver/plugin driver driver/place driver/report
    exec/thread exec/tensor exec/op exec/op/lower
    exec/backend exec/backend/cpu/unit exec/backend/cpu/pointwise
    exec/backend/cpu/gemm exec/backend/cpu/conv exec/backend/cpu/kernels
    exec/backend/cpu
    exec/backend/cuda/driver exec/backend/cuda/jit exec/backend/cuda/kernels
    exec/backend/cuda/algo exec/backend/cuda/graph exec/backend/cuda
    exec/weights
    exec/plan/ir exec/plan/passes exec/plan/lower exec/plan/schedule
    exec/plan/verify exec/plan
    exec/transport/secure
    exec/transport/rendezvous exec/transport/shm exec/transport
    exec/transport/tcp
    exec/transport/mpi exec/transport/nccl
    exec/discover exec/runtime/device exec/runtime/joint exec/runtime
    exec/runtime/pipeline exec/measure exec
    driver/exec driver/profile
    driver/benchmark
    lib
    cli"

# Prints every include of the tree $1 that goes the wrong way.
violations()
{
    (
        cd "$1" || exit 99
        for top in src models solvers exec; do
            [ ! -d "$top" ] || find "$top" -name '*.[ch]' -o -name '*.cu'
        done | LC_ALL=C sort |
            xargs grep -n '^[[:blank:]]*#[[:blank:]]*include' /dev/null |
            awk -F: -v rooms="$rooms" '
            BEGIN {
                n = split(rooms, name, " ")
                for (i = 1; i <= n; i++)
                    level[name[i]] = i
            }

            # "src/base/out.c" and "base/out.h" are in base; a room in a room,
            # such as solvers/search, counts by its full name.
            function room(path)
            {
                sub(/^src\//, "", path)
                sub(/\/[^\/]*$/, "", path)
                while (!(path in level) && path ~ /\//)
                    sub(/\/[^\/]*$/, "", path)
                return path
            }

            {
                text = $0
                sub(/^[^:]*:[^:]*:/, "", text)
                split(text, part, /[<>"]/)
                target = part[2]
            }

            target ~ /^libxml\// && $1 !~ /^src\/ingest\/xml(_error)?[.]c$/ {
                print $1 ":" $2 ": includes " target \
                    ", which only src/ingest/xml*.c may"
            }

            text !~ /"/ || target !~ /\// || target ~ /^third_party\// {
                next
            }

            !(room(target) in level) {
                print $1 ":" $2 ": includes " target ", which is in no room"
                next
            }

            level[room(target)] > level[room($1)] {
                print $1 ":" $2 ": includes " target ", which is below " \
                    room($1)
            }'
    )
}

# Stores in $found the violations of a tree of one file, $1, with the text
# $2.
planted()
{
    mkdir -p "$work/tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$work/tree/$1"
    found=$(violations "$work/tree")
    rm -rf "$work/tree"
}

plan 9

found=$(violations "$top_srcdir")
is "no room includes one below it" "$found" ""

planted src/base/out.c '#include "graph/graph.h"'
is "base may not include graph" "$found" \
    "src/base/out.c:1: includes graph/graph.h, which is below base"

planted src/cost/cluster.c '#  include "models/model.h"'
is "cost may not include models" "$found" \
    "src/cost/cluster.c:1: includes models/model.h, which is below cost"

planted solvers/driver.c '#include "solvers/search/primal/anneal.h"'
is "solvers may not include their search" "$found" \
    "solvers/driver.c:1: includes solvers/search/primal/anneal.h, which is below solvers"

planted exec/kernels/gemm.cu '#include "cli/info.h"'
is "a folder of a room belongs to the room" "$found" \
    "exec/kernels/gemm.cu:1: includes cli/info.h, which is below exec"

planted src/graph/graph.c '#include <libxml/xmlreader.h>'
is "graph may not include libxml2" "$found" \
    "src/graph/graph.c:1: includes libxml/xmlreader.h, which only src/ingest/xml*.c may"

planted src/graph/cut.c '#include "../base/error.h"'
is "a path out of the room is refused" "$found" \
    "src/graph/cut.c:1: includes ../base/error.h, which is in no room"

planted solvers/search/greedy.c '#include "solvers/driver.h"'
is "search may include solvers" "$found" ""

planted src/ingest/xml.c '#include <libxml/xmlreader.h>
#include "base/error.h"
#include "third_party/xxhash.h"
#include "xml.h"'
is "what is allowed is allowed" "$found" ""
