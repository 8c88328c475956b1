#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-cluster: this machine, hypothetical machines, and the
# machines of several ranks, as cluster files that the other commands read.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"
ranks_use_shm

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT CUDA_VISIBLE_DEVICES
unset MOIRAI_STANDIN_MACHINE
standins=$(cd "$top_builddir/tests/standin" && pwd -P)
net=$top_srcdir/examples/inception.graphml
MOIRAI_CACHE=$work/cache
export MOIRAI_CACHE

# No GPU, except in the claims about GPUs.
MOIRAI_CUDA=
MOIRAI_NVML=
export MOIRAI_CUDA MOIRAI_NVML

# Prints attribute $2 of the device $1 in $work/out.
value()
{
    tr '\n' ' ' <"$work/out" |
        sed -n "s/.*<device id=\"$1\"[^>]* $2=\"\([^\"]*\)\".*/\1/p"
}

# Prints the link between $1 and $2 there, as one line.
link()
{
    grep "<link between=\"$1 $2\"" "$work/out"
}

has()
{
    grep -qF -e "$1" "$work/out"
}

# Claim: the other commands accept the cluster in $work/out.
is_taken()
{
    cp "$work/out" "$work/taken.xml"
    ok "$1" moirai-place -q --method heft -c "$work/taken.xml" "$net"
}

exits "this machine is found" 0 moirai-cluster discover --cpus 1
cp "$work/out" "$work/first"
ok "it reports that there is no GPU, and why" grep -q \
    '^moirai-cluster: no GPU found on .*: CUDA driver is not used' "$work/err"
is "in one line" "$(wc -l <"$work/err" | tr -d ' ')" 1
ok "its processors are a device" has '<device id="cpu" kind="cpu"'
is_taken "a network is placed on it"
exits "the same again" 0 moirai-cluster discover -q -o "$work/again"
ok "gives the same bytes" cmp "$work/again" "$work/first"
ok "and -q prints nothing" test ! -s "$work/err"
exits "the processors are divided" 0 moirai-cluster discover -q --cpus 3
ok "into so many" has '<device id="cpu2" kind="cpu"'
ok "with links between them" has '<link between="cpu1 cpu2"'
is_taken "which a network is placed on"

exits "two devices" 0 moirai-cluster discover -q --cpus 2 --gpus none
if [ "$(nproc)" -ge 2 ]; then
    is "have processors of their own" "$(sed -n 's/.* cpus="\([^"]*\)".*/\1/p' \
        "$work/out" | tr ',' '\n' | sort | uniq -d)" ""
    is "both" "$(grep -c ' cpus="[0-9]' "$work/out")" 2
else
    ok "share the only processor" sh -c "! grep -q ' cpus=' '$work/out'"
fi

exits "processors are measured" 0 \
    moirai-cluster discover -q --measure --cpus 2 --gpus none
is "links each way" "$(grep -c '<link from=.* <!-- measured, path: local -->' "$work/out")" 2
ok "and devices" has 'measured: gflops by a product'
is_taken "and a network is placed on what was measured"
cp "$work/taken.xml" "$work/measured.xml"
moirai-place -q --method heft -c "$work/measured.xml" -o "$work/two.sol" \
    "$top_srcdir/examples/two_branches/model.xml" >/dev/null
ok "and run there" moirai-exec -q -c "$work/measured.xml" \
    -g "$top_srcdir/examples/two_branches/model.xml" --check "$work/two.sol"

complains "no subcommand" 2 "there are discover and token" moirai-cluster find
complains "a list that is none" 2 "--gpus 1,1: no list of GPUs" \
    moirai-cluster discover --gpus 1,1
complains "a number that is none" 2 "--cpus 0: no number of devices" \
    moirai-cluster discover --cpus 0
complains "a precision that does not exist" 2 "f32" \
    moirai-cluster discover --precision f64
complains "a GPU that is not there" 1 "there is no GPU 0: CUDA driver is not" \
    moirai-cluster discover --gpus 0
complains "no device at all" 1 "leave --cpus none away" \
    moirai-cluster discover --cpus none --gpus none
complains "a topology that is not there" 1 "nowhere.xml" \
    moirai-cluster discover --nccl-topology "$work/nowhere.xml"
complains "a place that cannot be written to" 1 "nowhere" \
    moirai-cluster discover -q -o "$work/nowhere/file"

if [ -e "$standins/standin_nvml.so" ]; then
    MOIRAI_CUDA=$standins/standin_nvml.so
    MOIRAI_NVML=$MOIRAI_CUDA

    exits "GPUs of two kinds" 0 moirai-cluster discover
    ok "nothing is printed" test ! -s "$work/err"
    is "the model of one" "$(value gpu0 model)" "Tesla V100-SXM2-32GB"
    is "the peak of it" "$(value gpu0 gflops)" 15667.2
    is "the memory of another" "$(value gpu2 memory_bytes)" 17179869184
    is "its multiprocessors" "$(value gpu3 sms)" 56
    is "how fast its memory is" "$(value gpu3 memory_bandwidth_gbs)" 732.2
    is "four NVLinks" "$(link gpu0 gpu1)" \
        '  <link between="gpu0 gpu1" gbps="800" latency_us="5"/> <!-- 4 NVLinks -->'
    is "one, of the older GPU's kind" "$(link gpu0 gpu2)" \
        '  <link between="gpu0 gpu2" gbps="160" latency_us="5"/> <!-- 1 NVLink -->'
    is "eight lanes" "$(link gpu3 cpu)" \
        '  <link between="gpu3 cpu" gbps="63.015" latency_us="10"/> <!-- PCI Express -->'
    ok "another socket" grep -q \
        '"gpu1 gpu3" gbps="63.015" .* from socket to socket, through' "$work/out"
    is_taken "a network is placed on them"
    exits "two of them" 0 moirai-cluster discover --gpus 1,3 --cpus none
    is "are two devices" "$(grep -c '<device' "$work/out")" 2
    is "with their own numbers" "$(value gpu3 gpu)" 3
    complains "one that is not there" 1 "this machine has 4, counted from 0" \
        moirai-cluster discover --gpus 0,4
    MOIRAI_NVML='' exits "without NVML" 0 moirai-cluster discover
    ok "lanes are assumed, and reported as such" \
        grep -q '"gpu0 gpu1" gbps="126.031".*assumed to be 3.0 x16' "$work/out"
    MOIRAI_STANDIN_MACHINE=switched exits "GPUs at a switch" 0 \
        moirai-cluster discover --precision bf16
    is "are linked by all their NVLinks" "$(link gpu0 gpu1)" \
        '  <link between="gpu0 gpu1" gbps="3600" latency_us="5"/> <!-- 18 NVLinks over switches -->'
    is "tensor cores have another peak" "$(value gpu0 gflops)" 1070530.6

    cat >"$work/topology.xml" <<'END'
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:06:00.0" class="0x030200" vendor="0x10de" device="0x1db5"
         link_speed="16 GT/s" link_width="16">
      <gpu dev="0" sm="70" rank="0" gdr="1">
        <nvlink target="0000:07:00.0" count="6" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:07:00.0" class="0x030200" vendor="0x10de" device="0x1db5"
         link_speed="16 GT/s" link_width="16">
      <gpu dev="1" sm="70" rank="1" gdr="1">
        <nvlink target="0000:06:00.0" count="6" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
</system>
END
    complains "a cluster in the place of NCCL's topology" 2 "which is read" \
        moirai-cluster discover --nccl-topology "$work/topology.xml" \
        -o "$work/topology.xml"
    exits "NCCL's topology" 0 moirai-cluster discover \
        --nccl-topology "$work/topology.xml"
    is "counts for more" "$(link gpu0 gpu1)" \
        '  <link between="gpu0 gpu1" gbps="1200" latency_us="5"/> <!-- NCCL'"'"'s topology -->'
    ok "but only where it has values" grep -q \
        '"gpu2 gpu3" gbps="320"' "$work/out"
    complains "one of other GPUs" 1 "none of its GPUs is one of those here" \
        moirai-cluster discover --gpus 2,3 \
        --nccl-topology "$work/topology.xml"
    MOIRAI_CUDA=
    MOIRAI_NVML=
fi

if [ -e "$standins/standin_cuda.so" ] && ! is_watched; then
    MOIRAI_CUDA=$standins/standin_cuda.so
    export MOIRAI_NVRTC="$MOIRAI_CUDA" MOIRAI_CUBLASLT='' MOIRAI_CUDNN=''
    exits "a GPU is measured" 0 moirai-cluster discover --measure
    ok "the measured speed is reported" grep -q \
        'Stand-in.*measured: a product of floats reaches' "$work/out"
    is "its peak stays" "$(value gpu0 gflops)" 66908.2
    is "so are its links" \
        "$(grep -c '<link from=.*gpu0.* <!-- measured, path: local -->' "$work/out")" 2
    MOIRAI_CUDA=
fi

# Ranks that connect by TCP without a launcher.
next_port
rank()
{
    timeout 60 moirai-cluster discover -q --gpus none --rank "$1" --ranks 2 \
        --master 127.0.0.1:$port --token "$$"
}
if command -v timeout >/dev/null; then
    rank 1 >"$work/other" 2>&1 &
    exits "two ranks over TCP" 0 rank 0
    wait $!
    is "the other prints nothing" "$(cat "$work/other")" ""
    is "each has its processors" "$(value r0_cpu rank) $(value r1_cpu rank)" \
        "0 1"
    is_taken "a network is placed on them"
fi

# Ranks on one machine, which see the same GPUs.
if is_watched; then
    : # mpi.sh shows as much
elif [ ! -e "$standins/standin_nvml.so" ]; then
    skip "ranks" "there is no stand-in for NVML"
elif ! command -v mpirun >/dev/null || ! command -v timeout >/dev/null ||
    MOIRAI_TRANSPORT=mpi moirai-cluster discover 2>&1 |
    grep -q 'this build cannot do it'; then
    skip "ranks" "MPI is not built in"
else
    exits "two ranks" 0 env MOIRAI_CUDA="$standins/standin_nvml.so" \
        MOIRAI_NVML="$standins/standin_nvml.so" \
        timeout 60 mpirun -n 2 moirai-cluster discover
    is "have four GPUs and two devices of processors" \
        "$(grep -c '<device' "$work/out")" 6
    is "shared out" "$(value r1_gpu3 rank)" 1
    is "and linked as if there were one rank" "$(link r0_gpu2 r1_gpu3)" \
        '  <link between="r0_gpu2 r1_gpu3" gbps="320" latency_us="5"/> <!-- 2 NVLinks -->'
    is_taken "a network is placed on ranks"
    exits "their processors are measured" 0 timeout 60 mpirun -n 2 \
        moirai-cluster discover -q --measure --gpus none
    is "links between ranks, too" \
        "$(grep -c '<link from=.*r1_cpu.* <!-- measured, path: shm -->' "$work/out")" 2
    exits "one that fails" 1 timeout 60 mpirun -n 2 moirai-cluster discover \
        --gpus 0
    ok "gives the reason" grep -q 'there is no GPU 0' "$work/err"
fi

# Tokens: 43 characters of base64url, never the same, never over another.
exits "a token is printed" 0 moirai-cluster token
ok "of 43 characters" grep -Eqx '[A-Za-z0-9_-]{43}' "$work/out"
exits "a token is written" 0 moirai-cluster token "$work/token"
ok "of 43 characters as well" grep -Eqx '[A-Za-z0-9_-]{43}' "$work/token"
is "that only its owner reads" "$(stat -c %a "$work/token")" 600
ok "and that is another" sh -c '! cmp -s "$1/out" "$1/token"' - "$work"
rm -f "$work/option"
exits "--output is a file of it" 0 moirai-cluster token -o "$work/option"
is "and not printed" "$(cat "$work/out")" ""
ok "of 43 characters" grep -Eqx '[A-Za-z0-9_-]{43}' "$work/option"
is "for its owner only" "$(stat -c %a "$work/option")" 600
complains "two files of a token" 2 "token writes one file" \
    moirai-cluster token -o "$work/a" "$work/b"
cp "$work/token" "$work/before"
complains "a token that exists" 1 "token: exists, and is not replaced" \
    moirai-cluster token "$work/token"
ok "stays" cmp "$work/before" "$work/token"
complains "a token in no folder" 1 "none/t: cannot create" \
    moirai-cluster token "$work/none/t"
complains "a token on a full disk" 1 "cannot write" \
    sh -c 'exec moirai-cluster token >/dev/full'
complains "discover with an operand" 2 "takes no operand" \
    moirai-cluster discover here.xml
done_testing
