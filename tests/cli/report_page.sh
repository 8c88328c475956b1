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

moirai-place -q --fusion none "$work/inception.graphml" -o "$work/a.sol" \
    >/dev/null
moirai-place -q --fusion none --method single "$work/inception.graphml" -o \
    "$work/b.sol" \
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
is "one gap" "$(grep -o '</b>gap at most' "$work/dom" | wc -l)" 1
ok "with its origin, a certificate" grep -q \
    'id="gap-note">¹ To the lower bound .*, proven here by certificate\.' \
    "$work/dom"
sed '/^# proof /d' "$work/a.sol" >"$work/claim.sol"
moirai-report "$work/claim.sol" -o "$work/claim.html"
shown "a solution without its certificate" "$work/claim.html"
is "one gap" "$(grep -o '</b>gap at most' "$work/dom" | wc -l)" 1
ok "with its origin, a claim" grep -q \
    'id="gap-note">¹ To the lower bound .* that moirai claims in the file' \
    "$work/dom"
shown "in dark" "$work/a.html" --force-dark-mode \
    --blink-settings=preferredColorScheme=0

# The scripts of the page after its own: names of bars have a contrast of 4.5
# and more (WCAG 2, AA), and on a phone no word of a table is broken.
{
    sed 's/<\/body>.*//' "$work/a.html"
    cat <<'END_OF_SCRIPT'
<script>
let least = 21;
for (const theme of ["light", "dark"]) {
  setTheme(theme);
  const paper = rgbOf(style("--paper"));
  for (const color of palette) {
    for (const opacity of [0.45, 0.55, 1]) {
      const seen = rgbOf(color).map((v, i) => v * opacity + paper[i] * (1 - opacity));
      least = Math.min(least, contrast(rgbOf(inkOn(color, opacity, style("--paper"))), seen));
    }
  }
}
document.body.dataset.contrast = least >= 4.5;
document.body.style.width = "340px";
renderAll();
const broken = [];
for (const cell of document.querySelectorAll("th, td")) {
  const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (const word of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (word[0].length < 24 && range.getClientRects().length > 1) broken.push(word[0]);
    }
  }
}
document.body.dataset.broken = broken.join(" ");
</script></body></html>
END_OF_SCRIPT
} >"$work/more.html"
shown "with more scripts" "$work/more.html"
ok "names of bars can be read" grep -q 'data-contrast="true"' "$work/dom"
ok "no word is broken on a phone" grep -q 'data-broken=""' "$work/dom"
ok "which is as wide as the page" grep -q 'name="viewport"' "$work/dom"

moirai-place -q --objective period --time 2 --fusion none \
    "$work/inception.graphml" -o "$work/period.sol" >/dev/null
moirai-report "$work/period.sol" -o "$work/period.html"
shown "a period" "$work/period.html"
is "a row for each resource" "$(rows resources)" 7
ok "the one that limits first" grep -q \
    '<div id="resources">.*<tbody><tr><td[^>]*><b>device B, the bottleneck' \
    "$work/dom"
ok "replication beside it" grep -q 'replication: a whole copy on each of 2' \
    "$work/dom"
ok "no critical path" sh -c '! grep -q "id=\"path-button\"" "$1"' - "$work/dom"

# The picture in a column of a notebook.
{
    echo '<html><body><div style="width:400px">'
    moirai-report --format svg --no-ablation "$work/a.sol"
    echo '</div><script>const box = document.querySelector("svg")
        .getBoundingClientRect();
        document.documentElement.dataset.ready = "yes";
        document.body.dataset.fits = box.width <= 400 && box.height < 100;
        </script></body></html>'
} >"$work/narrow.html"
shown "the picture" "$work/narrow.html"
ok "scales with its column" grep -q 'data-fits="true"' "$work/dom"

moirai-zoo -q --layers 98 --hidden 1024 --heads 16 -o "$work/large.graphml"
moirai-place -q --fusion none -c inter-server --method heft \
    "$work/large.graphml" \
    -o "$work/large.sol" >/dev/null
moirai-report --no-compare "$work/large.sol" -o "$work/large.html"
shown "20,000 ops" "$work/large.html"
is "a row of shares for each device of them" "$(rows shares)" 5

ok "a line says why no device is left out" \
    grep -q 'Not computed: the page places up to 2000 ops' "$work/dom"
named=$(grep -o 'the names of [0-9]* of [0-9]* boxes' "$work/dom")
is "the boxes of all layers are in view with their names" "$named" \
    "the names of 98 of 98 boxes"

done_testing
