# SPDX-License-Identifier: Apache-2.0
# tap.sh - TAP functions, sourced by the shell tests.
#
#     . "$top_srcdir/tests/support/tap.sh"
#     plan 3
#     ok "a claim" test -s file              # the command must exit 0
#     is "another" "$got" "$wanted"          # two texts must be equal
#     exits "a third" 2 moirai-info --nope   # ... with this status
#     complains "a fourth" 1 'text' command  # ... and one line on stderr
#
# A test without a known number of claims ends with done_testing in place of
# plan.
#
# A test that cannot run here calls skip_all, or skip for one claim.  $work is
# a private folder that is removed at the end; out and err in it hold the
# output of the command of the last "exits".
# shellcheck shell=sh

LC_ALL=C
export LC_ALL
: "${top_builddir:=.}"

tap_count=0
work=$(mktemp -d "${TMPDIR:-/tmp}/moirai-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

plan()
{
    echo "1..$1"
}

done_testing()
{
    echo "1..$tap_count"
}

skip_all()
{
    echo "1..0 # SKIP $*"
    exit 0
}

# Returns whether valgrind or a sanitizer checks every step: a part of the
# large cases suffices then.
is_watched()
{
    [ "${CK_FORK-}" = no ]
}

# Prints the number of random cases: the first, in .ci/run (MOIRAI_CI) the
# second, with MOIRAI_LONG the third.
cases()
{
    if [ -n "${MOIRAI_LONG-}" ]; then
        echo "$3"
    elif [ -n "${MOIRAI_CI-}" ]; then
        echo "$2"
    else
        echo "$1"
    fi
}

# Is .ci/run, or MOIRAI_LONG: samples are enough elsewhere.
in_ci()
{
    [ -n "${MOIRAI_CI-}${MOIRAI_LONG-}" ]
}

# Skips a test that builds a package or a tree of its own, or repeats for one
# machine what holds for all.
ci_only()
{
    in_ci || skip_all "is for .ci/run; MOIRAI_CI=1 runs it here"
}

# Prints details of a failed claim.
comment()
{
    sed 's/^/# /'
}

pass()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

fail()
{
    tap_count=$((tap_count + 1))
    echo "not ok $tap_count - $1"
}

skip()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

ok()
{
    tap_claim=$1
    shift
    if "$@" >"$work/ok.log" 2>&1; then
        pass "$tap_claim"
    else
        fail "$tap_claim"
        comment <"$work/ok.log"
    fi
}

is()
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1"
        printf 'got:    %s\nwanted: %s\n' "$2" "$3" | comment
    fi
}

exits()
{
    tap_claim=$1
    tap_wanted=$2
    shift 2
    tap_status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || tap_status=$?
    if [ "$tap_status" -eq "$tap_wanted" ]; then
        pass "$tap_claim"
    else
        fail "$tap_claim"
        echo "exit $tap_status instead of $tap_wanted: $*" | comment
        comment <"$work/err"
    fi
}

# The command must exit with this status, print nothing on stdout, and one line
# on stderr that contains the text.
complains()
{
    tap_claim=$1
    tap_wanted=$2
    tap_text=$3
    shift 3
    tap_status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || tap_status=$?
    if [ "$tap_status" -eq "$tap_wanted" ] && [ ! -s "$work/out" ] &&
        [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -qF -e "$tap_text" "$work/err"; then
        pass "$tap_claim"
    else
        fail "$tap_claim"
        echo "exit $tap_status, not $tap_wanted with '$tap_text': $*" | comment
        comment <"$work/out"
        comment <"$work/err"
    fi
}

# FOLDER: a language model as transformers saves it, without values.
language_model()
{
    mkdir -p "$1"
    tr '\0' '\n' <"${top_srcdir:-.}/tests/fuzz/corpus/safetensors/llama" \
        >"$work/language_model"
    sed -n 1p "$work/language_model" >"$1/config.json"
    sed -n 2p "$work/language_model" | tr -d '\n' >"$work/header"
    tap_size=$(wc -c <"$work/header")
    # The length of the header has eight bytes, the least first.
    tap_low=$(printf %03o $((tap_size % 256)))
    tap_high=$(printf %03o $((tap_size / 256)))
    {
        printf '%b' "\\0$tap_low\\0$tap_high" '\0' '\0' '\0' '\0' '\0' '\0'
        cat "$work/header"
    } >"$1/model.safetensors"
}

# Sets port to one of TCP that no socket uses, nor the kernel chooses for a
# connection (it does from 32768 on).
port=$((10000 + $$ * 101 % 20000))
next_port()
{
    port=$((port < 32000 ? port + 1 : 10000))
    while grep -q ":$(printf %04X $port) " /proc/net/tcp /proc/net/tcp6 \
        2>/dev/null; do
        port=$((port + 1))
    done
}
