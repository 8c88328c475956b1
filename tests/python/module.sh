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
"$python" -c 'import networkx, numpy' 2>"$work/err" ||
    skip_all "Python is incomplete: $(tail -n 1 "$work/err")"
top_srcdir=$(cd "$top_srcdir" && pwd)

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

ok "everything public is documented" documented
"$python" "$top_srcdir/tests/python/claims.py" "$top_srcdir" "$work" \
    >"$work/claims" 2>"$work/errors"
status=$?
while read -r verdict claim; do
    is "$claim" "$verdict" ok
done <"$work/claims"
[ "$status" -eq 0 ] || sed 's/^/# /' "$work/errors"
is "all claims were tried" "$status" 0
if "$python" -c 'import mypy' 2>"$work/err"; then
    ok "mypy --strict accepts it" "$python" -m mypy --strict \
        --cache-dir "$work/mypy" --ignore-missing-imports "$PYTHONPATH/moirai"
fi

done_testing
