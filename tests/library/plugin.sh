#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Plug-ins: methods and solvers of shared objects in MOIRAI_PLUGINS; what they
# answer is checked as all answers are.
. "${top_srcdir:=.}/tests/support/tap.sh"
: "${CC:=cc}"

graph=$top_srcdir/examples/inception.graphml

# build NAME: compiles the plug-in $work/NAME.c.
build()
{
    $CC -shared -fPIC -Wall -Wextra -I"$top_srcdir/src" -o "$work/$1.so" \
        "$work/$1.c"
}

# Methods that lie or fail.
cat >"$work/bad.c" <<'END'
#include <moirai.h>
#include <stdio.h>

static int far_device(const moirai_method_task *t, int32_t *d, int64_t *s)
{
    (void) s;
    d[0] = t->view->n_devices;
    return MOIRAI_OK;
}

static int wrong_order(const moirai_method_task *t, int32_t *d, int64_t *s)
{
    (void) d;
    for (int i = 0; i < t->view->n_ops; i++)
        s[i] = 1000 * (t->view->n_ops - i);
    return MOIRAI_OK;
}

static int gives_up(const moirai_method_task *t, int32_t *d, int64_t *s)
{
    (void) d, (void) s;
    snprintf(t->error_text, t->error_size, "too tired");
    return MOIRAI_E_NO_SOLUTION;
}

static const moirai_plugin_method methods[] = {
    { "far", "sets a device that there is not", 0, far_device },
    { "order", "starts the last op first", 0, wrong_order },
    { "tired", "finds nothing", 0, gives_up },
};

MOIRAI_API const moirai_plugin moirai_plugin_v1 = {
    sizeof(moirai_plugin), "bad", methods, 3, 0, 0,
};
END
cat >"$work/taken.c" <<'END'
#include <moirai.h>
static int place(const moirai_method_task *t, int32_t *d, int64_t *s)
{
    (void) t, (void) d, (void) s;
    return MOIRAI_OK;
}
static const moirai_plugin_method methods[] = { { "heft", "", 0, place } };
MOIRAI_API const moirai_plugin moirai_plugin_v1 = {
    sizeof(moirai_plugin), "taken", methods, 1, 0, 0,
};
END
cat >"$work/counts.c" <<'END'
#include <moirai.h>
MOIRAI_API const moirai_plugin moirai_plugin_v1 = {
    sizeof(moirai_plugin), "counts", 0, -5, 0, 3,
};
END
cat >"$work/named.c" <<'END'
#include <moirai.h>
static const moirai_plugin_solver solvers[] = { { "none", 0, 0, "true" } };
MOIRAI_API const moirai_plugin moirai_plugin_v1 = {
    sizeof(moirai_plugin), "named", 0, 0, solvers, 1,
};
END
echo 'int moirai_plugin_v0;' >"$work/none.c"
cp "$top_srcdir/examples/library/own_method.c" "$work/own.c"

plan 27

for name in own bad taken named counts none; do
    ok "$name.c compiles" build $name
done

MOIRAI_PLUGINS=$work/own.so:$work/bad.so
export MOIRAI_PLUGINS
exits "a method of a plug-in runs beside others" 0 \
    moirai-place -q --method greedy,heft "$graph" -o "$work/greedy.sol"
ok "it is in the table" grep '^greedy ' "$work/out"
ok "its placement is valid" moirai-check "$work/greedy.sol" -g "$graph"
ok "--method all has it" sh -c 'moirai-place -q --method all --time 1 "$1" |
    grep "^greedy "' - "$graph"
ok "--help lists it" sh -c 'moirai-place --help | grep greedy'
exits "a device that there is not is an error" 1 \
    moirai-place -q --method far "$graph"
ok "which names it" grep 'far .*sets device' "$work/out"
exits "an order against the graph is refused" 1 \
    moirai-place -q --method order "$graph"
exits "a method that finds nothing has no result" 3 \
    moirai-place -q --method tired "$graph"
ok "for its reason" grep 'too tired' "$work/out"
ok "moirai-solve --list has its solver" \
    sh -c 'moirai-solve --list | grep "own-cbc.*plug-in"'

exits "a file of the working folder" 0 sh -c \
    "cd '$work' && MOIRAI_PLUGINS=own.so moirai-solve --list"
complains "no output replaces one" 2 "$work/bad.so, which is read" \
    moirai-place -q "$graph" -o "$work/bad.so"
unset MOIRAI_PLUGINS
complains "without the plug-in there is no such method" 2 greedy \
    moirai-place -q --method greedy "$graph"
exits "--plugin takes a file of the working folder, and several" 0 \
    sh -c 'cd "$1" && graph=$2 && shift 2 && exec "$@" "$graph"' - "$work" \
    "$(realpath "$graph")" moirai-place -q --plugin bad.so --plugin own.so \
    --method greedy
ok "moirai-solve --plugin, too" sh -c 'moirai-solve --plugin "$1" --list |
    grep "own-cbc.*plug-in"' - "$work/own.so"
complains "moirai --plugin: what cannot be loaded is named" 1 \
    'absent.so: cannot be loaded' moirai -q --plugin absent.so "$graph"

export MOIRAI_PLUGINS
MOIRAI_PLUGINS=$work/taken.so
complains "a name that is taken is refused" 2 \
    "taken.so: there is a method 'heft' already" moirai-place -q "$graph"
MOIRAI_PLUGINS=$work/named.so
complains "so is a solver of the name that means no solver" 2 \
    "letters and digits other than 'none'" moirai-place -q "$graph"
MOIRAI_PLUGINS=$work/counts.so
complains "numbers of methods that there are not" 1 \
    'counts.so: moirai_plugin_v1 has numbers without' moirai-place -q "$graph"
MOIRAI_PLUGINS=$work/none.so
complains "what is no plug-in is refused" 1 \
    'none.so: is no plug-in of this version' moirai-place -q "$graph"
