#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# The wheel in an empty environment: the commands as an ordinary user first uses
# them, and the module without the tree.
. "${top_srcdir:=.}/tests/support/tap.sh"
ci_only

python=${MOIRAI_PYTHON:-python3}
[ -e "$top_builddir/src/lib/libmoirai.so.1.0.0" ] ||
    skip_all "libmoirai.so is not built"
"$python" -c 'import pip, venv' 2>"$work/err" ||
    skip_all "Python is incomplete: $(tail -n 1 "$work/err")"

# The job server and the overrides of the outer make do not apply.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR MOIRAI_HIGHS_LIB PYTHONPATH
# An ordinary user reads it.
chmod 755 "$work"
cp -r "$top_srcdir/examples" "$work/examples"
chmod -R a+rX "$work/examples"
AUDITWHEEL_ZIP_COMPRESSION_LEVEL=1
export AUDITWHEEL_ZIP_COMPRESSION_LEVEL

make_wheel()
{
    mkdir "$work/wheels" &&
        (cd "$top_builddir" && make wheel WHEELS="$work/wheels" \
            MOIRAI_PYTHON="$python") &&
        wheel=$(echo "$work"/wheels/moirai-*.whl) && [ -s "$wheel" ]
}

# The name says what it needs: with the foreign libraries in it, the C library.
name_is_honest()
{
    if "$python" -c 'import auditwheel'; then
        case $wheel in *-py3-none-manylinux_*) ;; *) return 1 ;; esac
    else
        case $wheel in *-py3-none-linux_*) ;; *) return 1 ;; esac
    fi
}

# Of the system's Python, which every user may start.
install_wheel()
{
    base=/usr/bin/python3
    [ -x $base ] || base=$python
    "$base" -m venv --without-pip "$work/venv" &&
        "$python" -m pip --python "$work/venv/bin/python" \
            --disable-pip-version-check install -q --no-index --no-deps \
            "$wheel" && chmod -R a+rX "$work/venv"
}

# as_user COMMAND...: in an empty folder, with nothing of the tests' environment.
as_user()
{
    rm -rf "$work/folder"
    mkdir "$work/folder"
    chmod 777 "$work/folder"
    set -- env -i PATH="$work/venv/bin:/usr/bin:/bin" HOME="$work/folder" "$@"
    if [ "$(id -u)" -eq 0 ]; then
        set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    fi
    (cd "$work/folder" && "$@")
}

cat >"$work/first.py" <<'END_OF_PYTHON'
import sys
import moirai

assert moirai.__file__.startswith(sys.prefix), moirai.__file__
placement = moirai.place("../examples/inception.graphml",
                         "../examples/inception.cluster.xml",
                         time=10)
assert placement.valid and placement.makespan_us == 63.7, placement
placement.write("inception.sol")
placement.emit("inception.lp")
print(placement)
END_OF_PYTHON

solve_from_python()
{
    as_user python -c '
import moirai
solved = moirai.solve("../examples/inception.graphml",
                      "../examples/inception.cluster.xml", fusion="default",
                      solver="highs", time=60)
assert solved.makespan_us == 63.7, solved'
}

same_again()
{
    mkdir "$work/again" &&
        (cd "$top_builddir" && make wheel WHEELS="$work/again" \
            MOIRAI_PYTHON="$python") &&
        cmp "$wheel" "$work/again/$(basename "$wheel")"
}

ok "make wheel" make_wheel
ok "its name says what it needs" name_is_honest
ok "it installs into an empty environment" install_wheel
ok "the commands pass the first use" \
    sh "$top_srcdir/tests/package/first_use.sh" "$work/venv" "$work/examples"
ok "moirai COMMAND finds its parts" as_user moirai export --version
ok "the module places" as_user python "$work/first.py"
ok "a solver came along" solve_from_python
[ -z "${MOIRAI_LONG-}" ] || ok "a second wheel has the same bytes" same_again

done_testing
