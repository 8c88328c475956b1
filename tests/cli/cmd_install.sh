#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of make install: the commands run from the prefix, and another program
# finds headers and library through pkg-config.
. "${top_srcdir:=.}/tests/support/tap.sh"
: "${CC:=cc}" "${CFLAGS:=}"

# The job server and the overrides of the outer make do not apply.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

install_into()
{
    (cd "$top_builddir" && make install "$@")
}

cat >"$work/user.c" <<'END'
#include <moirai.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    moirai_error err = { 0 };
    moirai_graph *graph;

    if (argc < 2 || moirai_graph_read(argv[1], NULL, &graph, &err) != MOIRAI_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%d ops\n", moirai_graph_n_ops(graph));
    moirai_graph_free(graph);
    return 0;
}
END

compile_user()
{
    PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
    export PKG_CONFIG_PATH
    flags=$(pkg-config --cflags --libs moirai) || return 1
    # Flags are words.
    # shellcheck disable=SC2086
    $CC $CFLAGS -o "$work/user" "$work/user.c" $flags
}

# bare COMMAND...: without the environment of the tests.
bare()
{
    env -i PATH=/usr/bin:/bin "$@"
}

# A solver copied by make install is found, and runs, at its new path.
installed_highs_solves()
{
    cat >"$work/tiny.lp" <<'END'
Minimize
 obj: w
Subject To
 a: w - x >= 2
Binaries
 x
End
END
    bare "$work/usr/bin/moirai-solve" \
        --list | grep "$work/usr/lib/moirai/highs/lib/libhighs.so" || return 1
    bare "$work/usr/bin/moirai-solve" -q \
        --via process -o "$work/tiny.sol" "$work/tiny.lp"
    grep -x 'w 2' "$work/tiny.sol"
}

# Nothing of a program may depend on the tree, which goes away.
# The configured prefix, which programs contain, may lie in the tree.
no_path_of_the_tree()
{
    prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
    find "$work/usr" -type f | while read -r file; do
        if LC_ALL=C sed "s|$prefix/||g" "$file" |
            grep -qaF -e "$(cd "$top_builddir" && pwd)" \
                -e "$(cd "$top_srcdir" && pwd)"; then
            echo "$file"
        fi
    done >"$work/with_path"
    cat "$work/with_path"
    [ ! -s "$work/with_path" ]
}

# HiGHS of an active environment: the package highspy has a library alone.
environment_highs_solves()
{
    site=$work/venv/lib/python3.99/site-packages/highspy
    mkdir -p "$site"
    cp -L "$work/usr/lib/moirai/highs/lib/libhighs.so" "$site/libhighs.so.1"
    mv "$work/usr/lib/moirai/highs" "$work/highs"
    bare VIRTUAL_ENV="$work/venv" "$work/usr/bin/moirai-solve" --list \
        >"$work/list"
    bare VIRTUAL_ENV="$work/venv" "$work/usr/bin/moirai-solve" -q \
        --solver highs -o "$work/tiny2.sol" "$work/tiny.lp"
    mv "$work/highs" "$work/usr/lib/moirai/highs"
    grep -F "library  $site/libhighs.so.1" "$work/list" &&
        grep -x 'w 2' "$work/tiny2.sol"
}

plan 19

ok "make install prefix=DIR" install_into prefix="$work/usr"
ok "moirai-info runs from there" \
    "$work/usr/bin/moirai-info" "$top_srcdir/examples/inception.graphml"
ok "moirai-export finds its modules there" \
    "$work/usr/bin/moirai-export" --version
ok "the Python module finds its library there" \
    bare PYTHONPATH="$work/usr/share/moirai/python" \
    "${MOIRAI_PYTHON:-/usr/bin/python3}" -B -c '
import moirai, sys
assert moirai.read(sys.argv[1]).ops[0].name' \
    "$top_srcdir/examples/inception.graphml"
ok "the manual is there" test -s "$work/usr/share/man/man1/moirai-info.1"
for shell in bash-completion/completions/moirai-info \
    zsh/site-functions/_moirai-info \
    fish/vendor_completions.d/moirai-info.fish; do
    ok "so is $shell" test -s "$work/usr/share/$shell"
done

if [ -e "$work/usr/lib/moirai/highs" ]; then
    ok "HiGHS came along" installed_highs_solves
    ok "it starts by hand" \
        bare "$work/usr/lib/moirai/highs/bin/highs" --version
    ok "that of an active environment is found" environment_highs_solves
    # make install repeated replaces it.
    ok "make install again" install_into prefix="$work/usr"
else
    for claim in "HiGHS came along" "it starts by hand" \
        "that of an active environment is found" "make install again"; do
        skip "$claim" "it is not here, or the system's"
    done
fi

# $work is for its owner alone, and the first use is that of an ordinary user.
chmod 755 "$work"
ok "its first use, from an empty folder" \
    sh "$top_srcdir/tests/package/first_use.sh" "$work/usr"
ok "no file has a path of the tree" no_path_of_the_tree
bare "$work/usr/bin/moirai-solve" --list >"$work/list"
ok "no solver of the tree is found" \
    sh -c '! grep -F "$1" "$2"' - "$(cd "$top_builddir" && pwd)" "$work/list"

is "one header is installed" "$(ls "$work/usr/include")" "moirai.h"
if command -v pkg-config >/dev/null; then
    ok "another program compiles against it" compile_user
    is "and reads a graph" \
        "$(LD_LIBRARY_PATH=$work/usr/lib "$work/user" \
            "$top_srcdir/examples/inception.graphml")" "15 ops"
else
    skip "another program compiles against it" "pkg-config is not installed"
    skip "and reads a graph" "pkg-config is not installed"
fi

# Folders may stay.
(cd "$top_builddir" && make uninstall prefix="$work/usr") >"$work/out" 2>&1
is "make uninstall leaves no file" "$(find "$work/usr" ! -type d)" ""
