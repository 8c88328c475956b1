#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Programs outside of the tree, in C and C++, against an installed prefix, with
# the shared and the static library: the examples do the whole way.
. "${top_srcdir:=.}/tests/support/tap.sh"
: "${CC:=cc}" "${CXX:=c++}"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR MOIRAI_PLUGINS

examples=$(cd "$top_srcdir/examples" && pwd)
prefix=$work/usr
(cd "$top_builddir" && make install prefix="$prefix") >"$work/log" 2>&1 ||
    {
        cat "$work/log"
        exit 99
    }
cp "$examples"/library/* "$work"
cp -R "$examples/residual" "$examples/inception.graphml" \
    "$examples/inception.cluster.xml" "$work"
chmod -R u+w "$work"
cd "$work" || exit 99
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH LD_LIBRARY_PATH PATH

# Flags are words.
# shellcheck disable=SC2046
shared()
{
    "$1" -Wall -Wextra -Werror -o "$2" "$3" \
        $(pkg-config --cflags --libs moirai)
}

# The archive by its name: the linker would take the shared object.
# shellcheck disable=SC2046
static()
{
    "$1" -Wall -Wextra -Werror -o "$2" "$3" $(pkg-config --cflags moirai) \
        "$prefix/lib/libmoirai.a" $(pkg-config --libs --static moirai |
            sed 's/-lmoirai//')
}

# whole_way PROGRAM: reads, coarsens, places, emits, reports and runs.
whole_way()
{
    rm -f report.html
    "$1" residual/model.onnx residual/model.cluster.xml report.html >out &&
        grep -qi '<!doctype html' report.html
}

expected='moirai, 0 violations, gap 0 %, progress seen
model written
input image f32, 4 dimensions
own numbers: 30000 ns'

plan 19

ok "place.c compiles" shared "$CC" place place.c
ok "it runs" ./place inception.graphml inception.cluster.xml
is "and prints the optimum" \
    "$(./place inception.graphml inception.cluster.xml | tail -n 1)" \
    "makespan 63.700 us, gap 0.00 %"
ok "it is linked with the shared library" sh -c 'ldd place | grep libmoirai.so.1'
ok "place.c compiles with the static library" static "$CC" place_static place.c
ok "which needs no other" sh -c '! ldd place_static | grep libmoirai'
is "and prints the same" \
    "$(./place_static inception.graphml inception.cluster.xml)" \
    "$(./place inception.graphml inception.cluster.xml)"

sed -n '/^#include <err.h>/,/^\.Ed/p' "$top_srcdir/man/moirai.3" |
    sed '/^\.Ed/d; s/\\e/\\/g' >manual.c
ok "the program of the manual compiles" shared "$CC" manual manual.c
is "and proves the optimum" \
    "$(./manual inception.graphml inception.cluster.xml | tail -n 1 |
        sed 's/[1-9][0-9]* ns/N ns/')" "makespan N ns, gap 0.00 %"

ok "whole_way.cpp compiles" shared "$CXX" whole_way whole_way.cpp
ok "it does the whole way" whole_way ./whole_way
is "as it should" "$(grep -v -e coarse -e bytes out)" "$expected"
ok "whole_way.cpp compiles with the static library" \
    static "$CXX" whole_way_static whole_way.cpp
ok "it does the whole way, too" whole_way ./whole_way_static

ok "run.c compiles" shared "$CC" run run.c
# Without a header, the last bytes of a .npy file are the array.
input=$(wc -c <residual/input0.npy)
outputs_equal()
{
    moirai-place -q residual/model.onnx -o net.sol >log 2>&1 || return 1
    tail -c $((input - 128)) residual/input0.npy >input.raw
    MOIRAI_PATH=residual ./run net.sol input.raw >output.raw || return 1
    moirai-exec -q net.sol -g residual/model.onnx -i 0=residual/input0.npy \
        -o outputs >log 2>&1 || return 1
    tail -c "$(wc -c <output.raw)" outputs/output0.npy | cmp - output.raw
}
ok "it computes what moirai-exec does" outputs_equal

# shellcheck disable=SC2046
ok "own_method.c compiles as a plug-in" "$CC" -shared -fPIC -Wall -Wextra \
    -Werror -o own.so own_method.c $(pkg-config --cflags moirai)
MOIRAI_PLUGINS=$work/own.so
export MOIRAI_PLUGINS
moirai-place -q --method greedy inception.graphml -o greedy.sol >out 2>&1
ok "moirai-place has its method" grep '^greedy ' out
ok "whose placement is valid" moirai-check greedy.sol
