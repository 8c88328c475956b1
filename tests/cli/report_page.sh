#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-valgrind no-sanitizers
# Tests of the page of moirai-report in a browser: no error, all parts there,
# also with thousands of ops, in dark, and with several placements.
. "${top_srcdir:=.}/tests/support/tap.sh"

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name) || :
done
[ -n "$browser" ] || skip_all "no Chromium is installed"

unset MOIRAI_CLUSTER MOIRAI_PATH
work=$(cd "$work" && pwd -P)
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
HOME=$work
export HOME

# open_page FILE [OPTION...]: leaves the page as the browser has it in dom, and
# the messages of its scripts in console.
open_page()
{
    page=$1
    shift
    "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --window-size=1280,2400 \
        --enable-logging=stderr --virtual-time-budget=20000 --dump-dom "$@" \
        "file://$page" >"$work/dom" 2>"$work/err"
    grep 'CONSOLE' "$work/err" >"$work/console" || :
}

# shown NAME FILE [OPTION...]
shown()
{
    what=$1
    shift
    open_page "$@"
    ok "$what: the script reaches its end" grep -q 'data-ready="yes"' "$work/dom"
    is "$what: no message of the browser" "$(cat "$work/console")" ""
}

# rows PART: rows of the table in a part.
rows()
{
    tr -d '\n' <"$work/dom" | sed "s/.*<div id=\"$1\"[^>]*>//; s/<\/table>.*//" |
        grep -o '<tr>' | wc -l | tr -d ' '
}

moirai-place -q "$work/inception.graphml" -o "$work/a.sol" >/dev/null
moirai-place -q --method single "$work/inception.graphml" -o "$work/b.sol" \
    >/dev/null
moirai-exec -q --random-weights 1 --trace "$work/run.json" "$work/a.sol" \
    >/dev/null
moirai-report --trace "$work/run.json" "$work/a.sol" "$work/b.sol" \
    -o "$work/a.html"
shown "two placements" "$work/a.html"
is "a row of shares for each device and a head" "$(rows shares)" 3
is "of worth" "$(rows worth)" 3
is "of transfers" "$(rows pairs)" 3
is "of methods" "$(rows methods)" 8
is "memory of each device" "$(grep -o 'aria-label="memory of' "$work/dom" |
    wc -l | tr -d ' ')" 2
ok "the explanation" grep -q 'No placement is faster' "$work/dom"
ok "what was measured" grep -q 'Measured, it took' "$work/dom"
ok "a choice of placements" grep -q '<option value="1">' "$work/dom"
shown "in dark" "$work/a.html" --force-dark-mode \
    --blink-settings=preferredColorScheme=0

moirai-zoo -q --layers 98 --hidden 1024 --heads 16 -o "$work/large.graphml"
moirai-place -q -c inter-server --method heft "$work/large.graphml" \
    -o "$work/large.sol" >/dev/null
moirai-report --no-compare "$work/large.sol" -o "$work/large.html"
shown "20,000 ops" "$work/large.html"
is "a row of shares for each device of them" "$(rows shares)" 5

done_testing
