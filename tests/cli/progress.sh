#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The progress line of every command: on a terminal, above two seconds.
top_srcdir=${top_srcdir:-.}
# shellcheck source=tests/support/tap.sh
. "$top_srcdir/tests/support/tap.sh"
python=${MOIRAI_PYTHON:-python3}

"$python" -c 'import os; os.openpty()' 2>/dev/null ||
    skip_all "there are no terminals"

# Runs commands, one line each, at the same time, with a terminal as standard
# error, and writes what each sends there to the file $1.NUMBER.  A word in
# capitals, SLOW:FILE, is a pipe that has FILE after 3 s.
cat >"$work/terminals.py" <<'END'
import os, shlex, subprocess, sys, threading, time

def feed(path, pipe):
    time.sleep(3)
    with open(path, "rb") as given, open(pipe, "wb") as to:
        to.write(given.read())

def run(i, line):
    words = shlex.split(line)
    for k, word in enumerate(words):
        if word.startswith("SLOW:"):
            words[k] = f"{sys.argv[1]}.{i}.pipe"
            os.mkfifo(words[k])
            threading.Thread(target=feed, args=(word[5:], words[k]),
                             daemon=True).start()
    ours, theirs = os.openpty()
    process = subprocess.Popen(words, stderr=theirs, stdin=subprocess.DEVNULL,
                               stdout=open(f"{sys.argv[1]}.{i}.out", "wb"))
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass
    os.close(ours)
    shown += b"\nexit %d\n" % process.wait()
    with open(f"{sys.argv[1]}.{i}", "wb") as to:
        to.write(shown)

threads = [threading.Thread(target=run, args=item)
           for item in enumerate(sys.stdin.read().splitlines())]
for t in threads:
    t.start()
for t in threads:
    t.join()
END


zoo=$work/gpt.graphml
moirai-zoo -q -o "$zoo" gpt3-330m
net=$top_srcdir/examples/inception.graphml
cluster=$top_srcdir/examples/inception.cluster.xml
model=$top_srcdir/examples/residual/model.onnx
machine=$top_srcdir/examples/residual/model.cluster.xml
export MOIRAI_PATH="$top_srcdir/examples:$top_srcdir/examples/residual"
moirai-place -q -c "$cluster" -o "$work/a.sol" "$net" >"$work/out"
moirai-place -q -c "$machine" -o "$work/b.sol" "$model" >"$work/out"
moirai-emit -q -c "$cluster" -o "$work/a.lp" "$net"

# Each command, and a regular expression of the updates on its terminal, or
# nothing.
cat >"$work/solver" <<'END'
#!/bin/sh
sleep 4
END
chmod +x "$work/solver"
cat >"$work/table" <<END
moirai-place --time 12 --assist none -c inter-server $zoo|moirai: best [0-9.]* ms, bound [0-9.]* ms, gap
moirai-place -c $cluster SLOW:$net|reading: 
moirai-emit --strengthen 12 -c inter-server -o $work/emit.lp $zoo|searching: best [0-9.]* ms, bound [0-9.]* ms, gap
moirai-info SLOW:$net|reading: 
moirai-coarsen SLOW:$net|reading: 
moirai-check SLOW:$work/a.sol|reading: 
moirai-report SLOW:$work/a.sol|reading: 
moirai-solve --command '$work/solver {model} {solution}' $work/a.lp|solving
moirai -c $cluster SLOW:$net|reading: 
timeout 6 moirai-exec --runs 1000000 $work/b.sol|running
timeout 6 moirai-profile run -o $work/profile.xml --runs 400000 $model|measuring ops
moirai-place -q -c $cluster SLOW:$net|
moirai-place -c $cluster $net|
END
cut -d '|' -f 1 "$work/table" >"$work/commands"
"$python" "$work/terminals.py" "$work/shown" <"$work/commands"

# Whether what follows the last update of a terminal is its erasure.
erased()
{
    tr '\r' '\n' <"$1" | sed 's/\x1b/ESC/g' |
        awk '/^[0-9]+ s, / { after = 1; next } after { last = $0; after = 0 }
            END { exit last !~ /^ESC\[K/ }'
}

# Updates begin with a carriage return.
number=0
while IFS='|' read -r command shows; do
    updates=$(tr '\r' '\n' <"$work/shown.$number" | grep '^[0-9]* s, ')
    if [ -z "$shows" ]; then
        is "no line: $command" "$updates" ""
    else
        ok "$shows: $command" sh -c "printf '%s\n' \"\$1\" |
            grep -q '^[0-9]* s, $shows'" - "$updates"
        case $command in
        timeout*) ;; # killed
        *) ok "the line is erased" erased "$work/shown.$number" ;;
        esac
    fi
    number=$((number + 1))
done <"$work/table"
done_testing
