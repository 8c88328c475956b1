#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Static analysis of all product sources: gcc -fanalyzer, clang-tidy (.clang-tidy)
# and cppcheck.  A finding is printed as file:line: message [check] unless
# accepted.txt holds its file, check and a part of its message, with the reason;
# a file that does not compile is a finding too.  Lines of accepted.txt without a
# finding are listed at the end.
# Usage: analyze.sh TOP JOBS COMPILER-FLAG...; ANALYZE may name fewer tools.
set -eu

top=$1
jobs=$2
shift 2
build=$PWD
out=$build/analysis
mkdir -p "$out"
cd "$top"

export MO_FLAGS
MO_FLAGS=$(printf '%q ' -std=gnu11 -I"$build" "$@")
find src models solvers exec -name '*.c' | LC_ALL=C sort >"$out/sources"

# Lines "file:line:column: warning: text [check]" of compilers to one form; errors
# may have no check.
plain()
{
    sed -nE -e "s|^$top/||; s|^\./||" -e 's/ \[CWE-[0-9]+\]//' \
        -e 's/^([^ :]+:[0-9]+):[0-9]+: (warning|error): (.*) \[([^ ]*)\]$/\1: \3 [\4]/p' \
        -e t \
        -e 's/^([^ :]+:[0-9]+):[0-9]+: (fatal )?error: (.*)$/\1: \3 [error]/p' |
        sed -E 's/\[-W(analyzer-[a-z-]+)\]$/[\1]/' | LC_ALL=C sort -u
}

run_gcc()
{
    # xxhash.h is third-party code.
    # shellcheck disable=SC2016
    xargs -P "$jobs" -n 1 bash -c 'eval "set -- $MO_FLAGS $0"
        LC_ALL=C ${ANALYZE_GCC:-gcc} -O1 -fanalyzer -fdiagnostics-plain-output \
            -c -o /dev/null "$@" 2>&1' <"$out/sources" |
        grep -F -e -Wanalyzer -e 'error: ' | plain | grep -v '^third_party/'
}

run_tidy()
{
    # shellcheck disable=SC2016
    xargs -P "$jobs" -n 1 bash -c 'eval "set -- $MO_FLAGS"
        ${ANALYZE_TIDY:-clang-tidy} --quiet "$0" -- $ANALYZE_TIDY_FLAGS "$@" 2>&1' \
        <"$out/sources" | plain
}

# It does not expand the macros of operators.def, whose includers have an empty one.
# Findings across files need a folder when there are several jobs.
run_cppcheck()
{
    rm -rf "$out/cppcheck"
    mkdir -p "$out/include/ingest" "$out/cppcheck"
    : >"$out/include/ingest/operators.def"
    ${ANALYZE_CPPCHECK:-cppcheck} --enable=warning,portability,performance \
        --inline-suppr --std=c11 --language=c -j "$jobs" -q \
        --cppcheck-build-dir="$out/cppcheck" -I"$out/include" -Isrc -I. \
        '-D__has_feature(x)=0' '-D__has_builtin(x)=0' '-D__has_attribute(x)=0' \
        --template='{file}:{line}: {message} [{id}]' \
        src models solvers exec 2>&1 | LC_ALL=C sort -u
}

# unaccepted LOG UNUSED: prints the findings of a log that no line of accepted.txt
# covers; UNUSED then has the lines that cover none.
unaccepted()
{
    awk -F' \\| ' -v unused="$2" '
        FNR == NR {
            if ($0 !~ /^#/ && NF >= 4) {
                n++; file[n] = $1; check[n] = $2; part[n] = $3; line[n] = FNR
            }
            next
        }
        {
            split($0, at, ":")
            for (i = 1; i <= n; i++)
                if ((file[i] == "*" || index(at[1], file[i]) == 1) &&
                    index($0, "[" check[i] "]") && index($0, part[i])) {
                    used[i] = 1
                    next
                }
            print
        }
        END {
            for (i = 1; i <= n; i++)
                if (!(i in used))
                    print "accepted.txt:" line[i] ": no finding" >unused
        }' "$top/tests/analysis/accepted.txt" "$1"
}

failed=0
for tool in ${ANALYZE:-gcc tidy cppcheck}; do
    case $tool in
    gcc) program=${ANALYZE_GCC:-gcc} ;;
    tidy) program=${ANALYZE_TIDY:-clang-tidy} ;;
    *) program=${ANALYZE_CPPCHECK:-cppcheck} ;;
    esac
    if ! command -v "${program%% *}" >/dev/null; then
        echo "$tool: there is no program '$program'; install it, or name one in" \
            "ANALYZE_GCC, ANALYZE_TIDY or ANALYZE_CPPCHECK"
        failed=1
        continue
    fi
    "run_$tool" >"$out/$tool.log" || true
    unaccepted "$out/$tool.log" /dev/null >"$out/$tool.findings"
    printf '%-8s %d findings, %d of them accepted\n' "$tool" \
        "$(wc -l <"$out/$tool.log")" \
        "$(($(wc -l <"$out/$tool.log") - $(wc -l <"$out/$tool.findings")))"
    cat "$out/$tool.findings"
    [ ! -s "$out/$tool.findings" ] || failed=1
done
if [ -z "${ANALYZE:-}" ] && [ "$failed" = 0 ]; then
    cat "$out/gcc.log" "$out/tidy.log" "$out/cppcheck.log" >"$out/all.log"
    unaccepted "$out/all.log" /dev/stdout
    echo "0 findings that are not accepted"
fi
exit "$failed"
