#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The lists of CONTRIBUTING.md are complete: a dummy operator, method, lower
# bound, solver, graph format, backend and transport, each added by exactly the
# files that its list names, build and run.  Only the files that change are compiled; the rest comes from
# the archives of the build.
. "${top_srcdir:=.}/tests/support/tap.sh"
ci_only

for archive in libmoirai.a src/driver/libdriver.a exec/libexec.a \
    exec/libtile.a; do
    [ -e "$top_builddir/$archive" ] ||
        skip_all "$archive is not built"
done
top=$(cd "$top_srcdir" && pwd -P)
built=$(cd "$top_builddir" && pwd -P)

# The sources in their first state, and a copy to change.
mkdir "$work/base"
(
    cd "$top" && find src models solvers exec man tests third_party \
        -name '*.[ch]' -o -name '*.def' -o -name '*.inc' -o -name '*.am' \
        -o -name '*.[157]' -o -name '*.cu' -o -name '*.cuh' \
        -o -name rooms.sh
) >"$work/names"
tar -C "$top" -cf - -T "$work/names" | tar -C "$work/base" -xf -
cp -R "$work/base" "$work/tree"
cd "$work/tree" || exit 99

# Puts what was changed in $work/tree back to its first state.
begin()
{
    touched | while read -r file; do
        rm -f "$file"
        [ ! -e "$work/base/$file" ] || cp "$work/base/$file" "$file"
    done
    rm -rf "$work/objects"
    mkdir "$work/objects"
    objects=
}

# Prints the files of the list below the heading $1, NAME being dummy.
listed()
{
    sed -n "/^### $1\$/,/^##* [^#]/s/^- \`\([^\`]*\)\`.*/\1/p" \
        "$top/CONTRIBUTING.md" | sed 's/NAME/dummy/g' | LC_ALL=C sort
}

# Prints the files that differ from the first state.
touched()
{
    (cd "$work" && diff -rqN base tree) |
        sed -n 's|^Files base/\(.*\) and tree/.* differ$|\1|p' |
        LC_ALL=C sort
}

# insert FILE LINE-PATTERN TEXT: TEXT as a line before the first match.
insert()
{
    awk -v pattern="$2" -v text="$3" '
        !done && $0 ~ pattern { print text; done = 1 }
        { print }
        END { exit !done }' "$1" >"$work/edited" && cat "$work/edited" >"$1" ||
        echo "# $1 has no line like $2"
}

# compile FILE...: objects of the changed tree.
compile()
{
    for source; do
        object=$work/objects/$(echo "$source" | tr '/' '_').o
        # Flags are words.
        # shellcheck disable=SC2086
        $CC -std=c11 $CPPFLAGS $EXEC_CPPFLAGS $CFLAGS -O0 -Isrc -I. \
            -I"$built" -c "$source" -o "$object" 2>"$work/err" || {
            sed 's/^/# /' "$work/err" | head -n 20
            return 1
        }
        objects="$objects $object"
    done
}

# link COMMAND SOURCE...: a command of the changed objects and the archives.
link()
{
    command=$1
    shift
    compile "$@" || return 1
    # shellcheck disable=SC2086
    $CC $CFLAGS -Wl,--as-needed $objects "$built/src/driver/libdriver.a" \
        "$built/exec/libexec.a" "$built/exec/libtile.a" \
        "$built/libmoirai.a" $EXEC_LIBS -o "$work/$command" \
        2>"$work/err" || {
        sed 's/^/# /' "$work/err" | head -n 20
        return 1
    }
}

# Prints the sources that include a file.
includers()
{
    grep -rlE "include \".*$1\"" src exec | grep '[.]c$' | LC_ALL=C sort
}

plan 21

# method

begin
sed 's/m_topo/dummy/g; s/"m-topo"/"dummy"/' \
    solvers/search/baselines/m_topo.c >solvers/search/baselines/dummy.c
insert solvers/search/method.h '^extern const mo_method mo_method_moirai' \
    'extern const mo_method mo_method_dummy;'
insert solvers/search/method.c '&mo_method_moirai' '    &mo_method_dummy,'
insert solvers/search/baselines/room.am 'etf[.]c' "	%D%/dummy.c \\\\"
insert man/moirai-methods.7 '^[.]Sh SEE ALSO' '.\\" dummy'
is "a method is its list of files" "$(touched)" "$(listed 'A placement method')"
ok "it builds" link moirai-place solvers/search/baselines/dummy.c \
    solvers/search/method.c src/cli/place.c
"$work/moirai-place" --method dummy "$top/examples/inception.graphml" \
    >"$work/out" 2>&1
ok "it places" grep -q '^dummy ' "$work/out"

# lower bound

begin
cat >src/schedule/bound/dummy.h <<'END'
#ifndef MO_SCHEDULE_BOUND_DUMMY_H
#define MO_SCHEDULE_BOUND_DUMMY_H

#include "cost/instance.h"

int64_t mo_bound_dummy(const mo_instance *x);

#endif
END
cat >src/schedule/bound/dummy.c <<'END'
#include "schedule/bound/dummy.h"

#include <stdio.h>

int64_t mo_bound_dummy(const mo_instance *x)
{
    (void) x;
    puts("the dummy bound was computed");
    return 0;
}
END
cat >solvers/search/driver/dummy_job.c <<'END'
#include "schedule/bound/dummy.h"
#include "solvers/search/driver/job.h"

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    (void) err;
    *self = s;
    return MO_OK;
}

static void close_job(void *self)
{
    (void) self;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    (void) self;
    (void) grant;
    (void) err;
    *n = 1;
    return MO_OK;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    (void) self;
    (void) item;
    (void) stop;
    (void) err;
    return MO_OK;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    mo_search_state *s = self;

    (void) stop;
    (void) err;
    mo_search_raise_lower(s, mo_bound_dummy(s->x), "dummy");
    return MO_OK;
}

const mo_search_job mo_search_job_dummy = { .name = "dummy",
                                            .ablation = MO_ABLATION_job_dummy,
                                            .opens = true,
                                            .open = open_job,
                                            .close = close_job,
                                            .plan = plan_job,
                                            .run = run_job,
                                            .merge = merge_job };
END
# At the end, so that the numbers of the other mechanisms stay.
echo 'MO_ABLATION(job_dummy, search)' >>src/base/ablation.def
insert src/schedule/bound/room.am 'head_tail[.]c' \
    "	%D%/dummy.c %D%/dummy.h \\\\"
insert solvers/search/driver/room.am 'initial[.]c' "	%D%/dummy_job.c \\\\"
insert solvers/search/driver/jobs.c '^extern const mo_search_job' \
    'extern const mo_search_job mo_search_job_dummy;'
insert solvers/search/driver/jobs.c '^    &mo_search_job_whole_bound,$' \
    '    &mo_search_job_dummy,'
insert man/moirai-methods.7 '^[.]Sh SEE ALSO' '.\\" dummy'
is "a lower bound is its list of files" "$(touched)" \
    "$(listed 'A lower bound')"
ok "it builds" link moirai-place src/schedule/bound/dummy.c \
    solvers/search/driver/dummy_job.c solvers/search/driver/jobs.c \
    src/base/ablation.c src/cli/place.c
"$work/moirai-place" --rounds 1 "$top/examples/inception.graphml" \
    >"$work/out" 2>&1
ok "it is computed" grep -q 'the dummy bound was computed' "$work/out"

# solver

begin
sed 's/mo_solver_glpk/mo_solver_dummy/g; s/"glpk"/"dummy"/; s/"GLPK"/"Dummy"/' \
    solvers/plugins/glpk.c >solvers/plugins/dummy.c
insert solvers/plugins/solver.h '^extern const mo_solver mo_solver_highs' \
    'extern const mo_solver mo_solver_dummy;'
sed 's/&mo_solver_glpk,/\&mo_solver_glpk, \&mo_solver_dummy,/' \
    solvers/registry.c >"$work/edited" && cat "$work/edited" >solvers/registry.c
insert solvers/plugins/room.am 'glpk[.]c' "	%D%/dummy.c \\\\"
insert man/moirai-solve.1 '^[.]Sh SEE ALSO' '.\\" dummy'
is "a solver is its list of files" "$(touched)" "$(listed 'A solver')"
ok "it builds" link moirai-solve solvers/plugins/dummy.c solvers/registry.c \
    src/cli/solve.c src/cli/solve_output.c
"$work/moirai-solve" --list >"$work/out" 2>&1
ok "it is listed" grep -qi '^dummy' "$work/out"

# graph format

begin
cat >src/ingest/dummy.h <<'END'
#ifndef MO_INGEST_DUMMY_H
#define MO_INGEST_DUMMY_H

#include "ingest/read.h"

mo_status mo_dummy_read(mo_input *input, const mo_read_options *options,
                        mo_graph **graph, mo_error *err);

#endif
END
cat >src/ingest/dummy.c <<'END'
#include "ingest/dummy.h"

mo_status mo_dummy_read(mo_input *input, const mo_read_options *options,
                        mo_graph **graph, mo_error *err)
{
    (void) options;
    (void) graph;
    return mo_fail_at(err, MO_E_INPUT, mo_input_name(input), 1,
                      "the dummy reader was called");
}
END
insert src/ingest/read.c '^#include "ingest/graphml.h"' \
    '#include "ingest/dummy.h"'
insert src/ingest/read.c '{ .name = "graphml",' '    { .name = "dummy",
      .root = "dummy", .help = "a dummy", .read = mo_dummy_read },'
insert src/ingest/room.am 'input[.]c' "	%D%/dummy.c %D%/dummy.h \\\\"
insert man/moirai-graph.5 '^[.]Sh SEE ALSO' '.\\" dummy'
is "a format is its list of files" "$(touched)" "$(listed 'A graph format')"
ok "it builds" link moirai-info src/ingest/dummy.c src/ingest/read.c \
    src/cli/info.c src/cli/info_solution.c
echo '<dummy/>' >"$work/net.dummy"
"$work/moirai-info" "$work/net.dummy" >"$work/out" 2>&1
ok "it reads" grep -q 'the dummy reader was called' "$work/out"

# backend

begin
mkdir exec/backend/dummy
sed 's/mo_backend_cpu/mo_backend_dummy/; s/name = "cpu"/name = "dummy"/' \
    exec/backend/cpu/cpu_backend.c >exec/backend/dummy/dummy_backend.c
echo 'exec_libexec_a_SOURCES += %D%/dummy_backend.c' >exec/backend/dummy/room.am
insert exec/backend/backend.h '^extern const mo_backend mo_backend_cpu;' \
    'extern const mo_backend mo_backend_dummy;'
insert exec/backend/backend.c '&mo_backend_cpu' '    &mo_backend_dummy,'
insert exec/backend/room.am '^include' 'include %D%/dummy/room.am'
sed 's/cpu|cuda|auto/cpu|cuda|dummy|auto/' src/driver/exec/backend_choice.h \
    >"$work/edited" && cat "$work/edited" >src/driver/exec/backend_choice.h
insert man/moirai-exec.1 '^[.]Sh SEE ALSO' '.\\" dummy'
insert tests/tree/rooms.sh '^    exec/weights' '    exec/backend/dummy'
is "a backend is its list of files" "$(touched)" "$(listed 'A backend')"
ok "it builds" link moirai-exec exec/backend/dummy/dummy_backend.c \
    exec/backend/backend.c src/driver/exec/backend_choice.c src/cli/exec*.c
ok "it runs a network" "$work/moirai-exec" -q --backend dummy \
    --reference "$top/examples/two_branches" \
    -i "$top/examples/two_branches/input0.npy" \
    "$top/examples/two_branches/model.xml"

# transport

begin
mkdir exec/transport/dummy
sed 's/mo_transport_local =/mo_transport_dummy =/; s/name = "local"/name = "dummy"/' \
    exec/transport/local.c >exec/transport/dummy/dummy.c
echo 'exec_libexec_a_SOURCES += %D%/dummy.c' >exec/transport/dummy/room.am
insert exec/transport/transport.h '^extern const mo_transport mo_transport_tcp' \
    'extern const mo_transport mo_transport_dummy;'
sed 's/&mo_transport_local,$/\&mo_transport_dummy, &/
    s/local, tcp, nccl and mpi/dummy, &/' exec/transport/registry.c \
    >"$work/edited" && cat "$work/edited" >exec/transport/registry.c
insert exec/transport/room.am '^include' 'include %D%/dummy/room.am'
for choices in src/cli/cluster.c src/cli/exec.c \
    src/driver/profile/profile_options.h; do
    sed 's/"local|tcp|/"dummy|local|tcp|/' "$choices" \
        >"$work/edited" && cat "$work/edited" >"$choices"
done
insert man/moirai-exec.1 '^[.]Sh SEE ALSO' '.\\" dummy'
insert tests/tree/rooms.sh '^    exec/transport/tcp' '    exec/transport/dummy'
is "a transport is its list of files" "$(touched)" "$(listed 'A transport')"
ok "it builds" link moirai-exec exec/transport/dummy/dummy.c \
    exec/transport/registry.c src/cli/exec*.c
ok "it runs a network" "$work/moirai-exec" -q --transport dummy \
    --reference "$top/examples/two_branches" \
    -i "$top/examples/two_branches/input0.npy" \
    "$top/examples/two_branches/model.xml"

# operator

begin
# Rows are in the order of their names.
insert src/ingest/operators.def '^OPERATOR[(]D[v-z]|^OPERATOR[(]E' \
    'OPERATOR(DummyThrice, ACTIVATION, FLOPS(output, 1), SAME(1, 1), NONE, UNARY(THRICE, AS_REAL))'
insert exec/op/points.def '^POINT[(]NEGATE,' 'POINT(THRICE, REAL_UNARY)'
insert exec/backend/cpu/pointwise/steps_real.inc '^UNARY[(]ABS,' \
    'UNARY(THRICE, 3 * x)'
insert exec/backend/cuda/jit/codegen_pointwise.c '^RECIPE[(]ABS,' \
    'RECIPE(THRICE, "3 * @a")'
insert tests/exec/cpu/reference_pointwise.c 'case MO_POINT_ABS:' \
    '    case MO_POINT_THRICE: return 3 * a;'
is "an operator is its list of files" "$(touched)" \
    "$(listed 'An elementwise operator')"
# shellcheck disable=SC2046
set -- $( (includers operators[.]def; includers points[.]def
    includers steps_real[.]inc; includers operator_id[.]h
    includers lowerings[.]h; includers rule_fns[.]h
    includers lower[.]h; includers point_program[.]h) | LC_ALL=C sort -u)
ok "it builds" link moirai-exec "$@" src/cli/exec*.c
cat >"$work/thrice.graphml" <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="o" for="node" attr.name="op" attr.type="string"/>
<key id="s" for="node" attr.name="shape" attr.type="string"/>
<key id="d" for="node" attr.name="dtype" attr.type="string"/>
<graph edgedefault="directed">
<node id="x"><data key="o">Parameter</data><data key="s">4</data><data key="d">f32</data></node>
<node id="y"><data key="o">DummyThrice</data><data key="s">4</data><data key="d">f32</data></node>
<node id="z"><data key="o">Result</data><data key="s">4</data><data key="d">f32</data></node>
<edge source="x" target="y"/><edge source="y" target="z"/>
</graph></graphml>
END
# An array of 1, 2, 3, 4 in NumPy's format: a header of 128 bytes, then data.
{
    printf '\223NUMPY\001\000v\000'
    printf '%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
    printf '\000\000\200\077\000\000\000\100'
    printf '\000\000\100\100\000\000\200\100'
} >"$work/input.npy"
"$work/moirai-exec" -q -c cpu -i "$work/input.npy" -o "$work/got" \
    "$work/thrice.graphml" >/dev/null 2>"$work/err" ||
    sed 's/^/# /' "$work/err"
is "it computes" "$(tail -c 16 "$work/got/output0.npy" | od -A n -t f4 |
    tr -s ' ')" " 3 6 9 12"
