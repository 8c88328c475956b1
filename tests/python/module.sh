#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# The Python module from the tree: the example from a network to its outputs,
# claims about every part, the documentation, and the types.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
MOIRAI_LIBRARY=$(cd "$top_builddir" && pwd)/src/lib/libmoirai.so.1.0.0
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/python
PYTHONDONTWRITEBYTECODE=1
export MOIRAI_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
unset MOIRAI_CLUSTER MOIRAI_PATH

[ -e "$MOIRAI_LIBRARY" ] || skip_all "libmoirai.so is not built"
"$python" -c 'import networkx, numpy, onnx' 2>"$work/err" ||
    skip_all "Python is incomplete: $(tail -n 1 "$work/err")"
examples=$(cd "$top_srcdir" && pwd)/examples
top_srcdir=$(cd "$top_srcdir" && pwd)

# The example's own files, in its own folder.
whole_way()
{
    mkdir "$work/way" && cd "$work/way" &&
        "$python" "$examples/python_whole_way.py" \
            "$examples/two_branches/model.xml" \
            "$examples/two_branches/model.cluster.xml" \
            "$examples/two_branches/input0.npy" \
            "$examples/two_branches/output0.npy" >out &&
        tail -n 1 out | grep -x equal
}

# What the example left is what the commands read.
commands_agree()
{
    cd "$work/way" && moirai-check --graph "$examples/two_branches/model.xml" \
        --cluster "$examples/two_branches/model.cluster.xml" placement.sol &&
        moirai-emit --fusion default --no-strengthen -o by_command.lp \
            "$examples/two_branches/model.xml" &&
        cmp by_command.lp placement.lp && grep -q '</html>' placement.html
}

# The code of README.md and of the manual that stands on its own, in a folder
# with a model.
shown_code()
{
    mkdir "$work/shown" && cd "$work/shown" &&
        cp "$examples"/two_branches/* . &&
        awk '/^```python$/, /^```$/ { if (!/^```/) print; else print "#--" }' \
            "$top_srcdir/README.md" >blocks &&
        awk '/^\.Bd -literal/, /^\.Ed/ { if (!/^\./) print; else print "#--" }' \
            "$top_srcdir/man/moirai-python.7" >>blocks &&
        awk -v RS='#--\n' '/^import moirai\n/ { printf "%s", $0 > ++n ".py" }
            END { print n }' blocks >count && [ "$(cat count)" -eq 3 ] &&
        for block in 1 2 3; do
            "$python" "$block.py" || return 1
        done
}

# pydoc has a paragraph for everything public.
documented()
{
    "$python" - <<'END_OF_PYTHON'
import inspect
import pydoc
import moirai
assert "moirai.place(" in pydoc.render_doc(moirai)
for name in moirai.__all__:
    one = getattr(moirai, name)
    assert one.__module__.startswith("moirai"), name
    assert inspect.getdoc(one), name
    for member, value in vars(one).items() if inspect.isclass(one) else ():
        if inspect.isfunction(value) and not member.startswith("_"):
            assert inspect.getdoc(value), f"{name}.{member}"
END_OF_PYTHON
}

# The compiler may be several words.
# shellcheck disable=SC2086
ok "prototypes and structs are those of moirai.h" \
    "$python" "$top_srcdir/tests/python/abi.py" "$top_srcdir/src/moirai.h" \
    "$work" ${CC:-cc}
ok "the example does the whole way" whole_way
ok "the commands read what it wrote" commands_agree
ok "the code of README and manual runs" shown_code
ok "everything public is documented" documented
for part in claims claims_run; do
    "$python" "$top_srcdir/tests/python/$part.py" "$top_srcdir" "$work" \
        >"$work/claims" 2>"$work/errors"
    status=$?
    while read -r verdict claim; do
        is "$claim" "$verdict" ok
    done <"$work/claims"
    [ "$status" -eq 0 ] || sed 's/^/# /' "$work/errors"
    is "all of $part were tried" "$status" 0
done
if "$python" -c 'import mypy' 2>"$work/err"; then
    ok "mypy --strict accepts it" "$python" -m mypy --strict \
        --cache-dir "$work/mypy" --ignore-missing-imports "$PYTHONPATH/moirai"
fi

done_testing
