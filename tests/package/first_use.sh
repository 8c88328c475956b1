#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# first_use.sh [PREFIX [EXAMPLES]] - the first use of an installation.
#
# From an empty folder, as an ordinary user, with the commands of PREFIX/bin
# (default /usr) and nothing else of this tree: info, emit, solve, check, exec,
# report.  EXAMPLES is the folder of the examples (default: the installed one).
# Started by root, it continues as nobody.  Prints a line for each step; exits
# with 0 if all of them worked, 1 if one did not.
set -eu

prefix=${1:-/usr}
examples=${2:-$prefix/share/doc/moirai/examples}

if [ "$(id -u)" -eq 0 ]; then
    # By its text: the folder of this script may be closed to that user.
    exec setpriv --reuid=65534 --regid=65534 --clear-groups \
        sh -s -- "$prefix" "$examples" <"$0"
fi

LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/moirai-first-use.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/folder" "$work/home"
cd "$work/folder"

# step NAME TEXT COMMAND...: COMMAND succeeds, and its output contains TEXT.
step()
{
    name=$1
    text=$2
    shift 2
    if env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$work/home" LC_ALL=C "$@" \
        >"$work/$name.out" 2>&1 </dev/null &&
        grep -q -e "$text" "$work/$name.out"; then
        echo "ok: $name"
    else
        echo "FAILED: $*: no '$text' in its output, or it failed:"
        sed 's/^/    /' "$work/$name.out"
        exit 1
    fi
}

# A network with weights, its input, and the output that its framework computed.
for file in model.xml model.bin model.cluster.xml input0.npy output0.npy; do
    cp "$examples/two_branches/$file" .
done

step version '^moirai' moirai --version
step info '^ops  *32$' moirai-info model.xml
step emit 'read 32 ops' moirai-emit -v model.xml -o model.lp
step solve '^valid, optimal' moirai-solve --time 60 model.lp
step check '^makespan  *870.682 us' moirai-check model.sol
step exec 'equal to \.' moirai-exec -i input0.npy --reference . --check model.sol
step report 'read 32 ops' moirai-report -v model.sol -o report.html
step page '</html>' tail -n 1 report.html

# Nothing but the outputs, and nothing in the home folder.
files=$(find . ../home -type f | sort | tr '\n' ' ')
wanted='./input0.npy ./model.bin ./model.cluster.xml ./model.lp ./model.sol'
wanted="$wanted ./model.xml ./output0.npy ./report.html "
if [ "$files" != "$wanted" ]; then
    echo "FAILED: files are $files"
    exit 1
fi
echo "ok: no other files"
