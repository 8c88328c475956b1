#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of the manual pages: no warnings from mandoc and groff, the same
# options as --help, and examples that run.
. "${top_srcdir:=.}/tests/support/tap.sh"

command -v mandoc >/dev/null || skip_all "mandoc is not installed"

# Prints all warnings of mandoc, except for pages that are not installed yet.
lint()
{
    mandoc -Tlint -Wstyle "$1" | grep -v 'referenced manual not found'
}

# Prints the warnings of groff, such as for a name taken as a macro, which
# drops the rest of the page; nothing where groff is not installed.
groff_warnings()
{
    ! command -v groff >/dev/null ||
        { groff -mandoc -Tascii "$1" >/dev/null; } 2>&1
}

# Prints references to pages that are neither ours nor in this list.
dangling()
{
    sed -n 's/^\.Xr \([^ ]*\) \([0-9]\).*/\1.\2/p' "$1" |
        while read -r page; do
            case $page in
            dot.1 | xmllint.1 | gzip.1) ;;
            *) [ -e "$top_srcdir/man/$page" ] || echo "$page" ;;
            esac
        done
}

# Prints "-o" and "--output", one per line, from the first words of the lines
# of --help.
options_of_help()
{
    "$1" --help |
        sed -n 's/^  *\(-[-a-zA-Z0-9, ]*\).*/\1/p' |
        sed 's/  .*//' | tr -d ',' | tr ' ' '\n' | grep '^-' | sort -u
}

# Prints the same from the items of the page's OPTIONS: ".It Fl o , -output Ar
# FILE".
options_of_page()
{
    sed -n '/^\.Sh OPTIONS/,/^\.S[hs]/s/^\.It Fl //p' "$1" |
        sed 's/ Ar .*//; s/ Ns .*//' | tr -d ',' | tr ' ' '\n' |
        sed -n 's/^\([^ ].*\)/-\1/p' | sort -u
}

# Prints options of command $2 that page $1 lacks (>), and extra ones it has
# (<).
differences()
{
    options_of_page "$1" >"$work/page"
    options_of_help "$2" >"$work/help"
    diff "$work/page" "$work/help" | grep '^[<>]'
}

# Prints the displays of the page's DESCRIPTION and EXAMPLES: commands as
# "$ command", their output as "> line".
examples_of_page()
{
    mandoc -Tascii -O width=400 "$1" | sed "s/.$(printf '\b')//g" |
        awk '/^[A-Z]/ { within = /^(DESCRIPTION|EXAMPLES)/; next }
             !within { next }
             match($0, /^ *\$ /) {
                 blank = ""
                 indent = RLENGTH - 2
                 print substr($0, indent + 1)
                 next
             }
             /^ *$/ { blank = "> \n"; next }
             indent && substr($0, 1, indent) ~ /^ *$/ {
                 printf "%s> %s\n", blank, substr($0, indent + 1)
                 blank = ""
                 next
             }
             { indent = 0; blank = "" }'
}

# Prints a report with durations of runs replaced: "0.05 s", and the last column
# of the table of moirai-place, differ each time.
without_seconds()
{
    sed 's/[0-9.]* s$/T s/; /% of /s/ [0-9.]*$/ T/; s/ *$//' "$1"
}

# With a time limit of 0.3 s in place of the page's, unless MOIRAI_LONG.
run_example()
{
    if [ -z "${MOIRAI_LONG-}" ]; then
        # shellcheck disable=SC2001
        set -- "$(echo "$1" | sed 's/ --time [0-9]*/ --time 0.3/')"
    fi
    (cd "$work/examples" && sh -c "$1" </dev/null)
}

# Prints commands in displays that no "$ " marks: they would not be run. What
# needs several machines, a GPU with parts, or files of the reader has none.
unmarked()
{
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$1" |
        grep '^moirai\(-[a-z]*\)\{0,1\} [^ ]' |
        grep -v -e four -e emulate -e own.so -e '^moirai-export ' \
            -e googlenet.graphml -e chat.sol
}

# Prints what the examples of a page need and is not installed; nothing where
# they can run.
lacks()
{
    [ "$1" != moirai-export.1 ] ||
        "${MOIRAI_PYTHON:-python3}" -c 'import torch' 2>/dev/null ||
        echo "Python's package torch is not installed"
}

# Compares the output of the last command with what the page shows of it.
compare_output()
{
    [ ! -s "$work/shown" ] || [ -n "$missing" ] ||
        is "$name: prints what the page shows: $command" \
            "$(without_seconds "$work/ok.log")" \
            "$(without_seconds "$work/shown")"
}

commands_without_page()
{
    for program in "$top_builddir"/moirai "$top_builddir"/moirai-*; do
        # Programs that only other commands start have no page.
        [ "${program##*/}" != moirai-scip ] || continue
        [ ! -f "$program" ] || [ ! -x "$program" ] ||
            [ -e "$top_srcdir/man/$(basename "$program").1" ] ||
            basename "$program"
    done
}

is "every command has a page" "$(commands_without_page)" ""

for page in "$top_srcdir"/man/*.[0-9]; do
    name=$(basename "$page")
    is "$name: mandoc finds no fault" "$(lint "$page")" ""
    is "$name: groff gives no warnings" "$(groff_warnings "$page")" ""
    is "$name: the pages it refers to exist" "$(dangling "$page")" ""
    is "$name: commands shown are run" "$(unmarked "$page")" ""

    case $name in
    moirai-*.1 | moirai.1)
        ok "$name: the command is there" command -v "${name%.1}"
        is "$name: has the options of --help and no other" \
            "$(differences "$page" "${name%.1}")" ""
        ;;
    esac

    rm -rf "$work/examples"
    mkdir "$work/examples"
    cp -R "$top_srcdir"/examples/* "$work/examples"
    cp "$top_srcdir/tests/fuzz/corpus/gguf/llama" "$work/examples/model.gguf"
    language_model "$work/examples/Qwen3-8B"
    cp "$top_srcdir/examples/inception.cluster.xml" \
        "$work/examples/home.cluster.xml"
    cat >"$work/examples/bench.json" <<'EOF'
[{ "model_size": 200000, "model_n_params": 90000, "gpu_info": "A",
   "n_gpu_layers": -1, "n_prompt": 64, "n_gen": 0, "avg_ns": 90000000 },
 { "model_size": 200000, "model_n_params": 90000, "gpu_info": "A",
   "n_gpu_layers": -1, "n_prompt": 0, "n_gen": 8, "avg_ns": 4000000 }]
EOF
    chmod -R u+w "$work/examples"
    examples_of_page "$page" >"$work/commands"
    missing=$(lacks "$name")
    : >"$work/shown"
    while IFS= read -r line; do
        case $line in
        '$ '*)
            compare_output
            command=${line#??}
            : >"$work/shown"
            if [ -n "$missing" ]; then
                skip "$name: $command" "$missing"
            else
                ok "$name: $command" run_example "$command"
            fi
            ;;
        *) echo "${line#??}" >>"$work/shown" ;;
        esac
    done <"$work/commands"
    compare_output
done

# Clusters and graphs that the pages show are read.
mkdir "$work/files"
for page in cluster graph; do
    awk -v to="$work/files/$page" '
        /^\.Bd -literal/ { text = ""; next }
        /^\.Ed/ && text ~ /^<(cluster|graphml)/ {
            printf "%s", text >(to (++n))
        }
        /^\.Ed/ { text = ""; next }
        { text = text $0 "\n" }' "$top_srcdir/man/moirai-$page.5"
done
is "XML files of the manuals" "$(cd "$work/files" && echo *)" \
    "cluster1 cluster2 cluster3 graph1"
ok "the graph" moirai-info "$work/files/graph1"
for file in "$work/files"/cluster*; do
    ok "$(basename "$file")" moirai-place -q --rounds 1 -c "$file" \
        -o "$work/files/solution" "$top_srcdir/examples/residual/model.onnx"
done

done_testing
