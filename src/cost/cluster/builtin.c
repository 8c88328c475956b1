/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in clusters. */
#include "cost/cluster.h"

#include <string.h>

/*
 * The two test beds of the paper: devices, memory and the average bandwidths
 * it measured, in gigabits per second. Its latencies are not published; these
 * are typical of InfiniBand and NVLink for a copy between two GPUs.
 */
static const char inter_server[] =
    "<cluster name='inter-server'>\n"
    "  <device id='A' model='rtx2080ti' memory_gib='11'/>\n"
    "  <device id='B' model='t4' memory_gib='16'/>\n"
    "  <device id='C' model='p4' memory_gib='8'/>\n"
    "  <device id='D' model='rtx3060ti' memory_gib='8'/>\n"
    "  <link from='A' to='B' gbps='44.26' latency_us='10'/>\n"
    "  <link from='A' to='C' gbps='32.92' latency_us='10'/>\n"
    "  <link from='A' to='D' gbps='44.28' latency_us='10'/>\n"
    "  <link from='B' to='A' gbps='42.39' latency_us='10'/>\n"
    "  <link from='B' to='C' gbps='35.32' latency_us='10'/>\n"
    "  <link from='B' to='D' gbps='44.51' latency_us='10'/>\n"
    "  <link from='C' to='A' gbps='33.2' latency_us='10'/>\n"
    "  <link from='C' to='B' gbps='35.31' latency_us='10'/>\n"
    "  <link from='C' to='D' gbps='32.95' latency_us='10'/>\n"
    "  <link from='D' to='A' gbps='42.08' latency_us='10'/>\n"
    "  <link from='D' to='B' gbps='43.22' latency_us='10'/>\n"
    "  <link from='D' to='C' gbps='33.28' latency_us='10'/>\n"
    "</cluster>\n";

static const char intra_server[] =
    "<cluster name='intra-server'>\n"
    "  <device id='A' model='v100' memory_gib='32'/>\n"
    "  <device id='B' model='v100' memory_gib='32'/>\n"
    "  <device id='C' model='p100' memory_gib='16'/>\n"
    "  <device id='D' model='p100' memory_gib='16'/>\n"
    "  <link from='A' to='B' gbps='1170.04' latency_us='5'/>\n"
    "  <link from='A' to='C' gbps='626.10' latency_us='5'/>\n"
    "  <link from='A' to='D' gbps='610.56' latency_us='5'/>\n"
    "  <link from='B' to='A' gbps='1148.16' latency_us='5'/>\n"
    "  <link from='B' to='C' gbps='618.98' latency_us='5'/>\n"
    "  <link from='B' to='D' gbps='581.09' latency_us='5'/>\n"
    "  <link from='C' to='A' gbps='630.43' latency_us='5'/>\n"
    "  <link from='C' to='B' gbps='609.82' latency_us='5'/>\n"
    "  <link from='C' to='D' gbps='571.96' latency_us='5'/>\n"
    "  <link from='D' to='A' gbps='622.67' latency_us='5'/>\n"
    "  <link from='D' to='B' gbps='575.08' latency_us='5'/>\n"
    "  <link from='D' to='C' gbps='581.35' latency_us='5'/>\n"
    "</cluster>\n";

/* The local machine, with the typical performance of one or two cores. */
static const char this_cpu[] =
    "<cluster name='cpu'>\n"
    "  <device id='cpu' kind='cpu' gflops='100' memory_bandwidth_gbs='20'\n"
    "    launch_us='1'/>\n"
    "</cluster>\n";

/* The GPU that this machine has, with the performance of a common one. */
static const char this_gpu[] =
    "<cluster name='gpu'>\n"
    "  <device id='gpu' gflops='10000' memory_bandwidth_gbs='500'\n"
    "    launch_us='5'/>\n"
    "</cluster>\n";

const mo_cluster_builtin mo_cluster_builtins[] = {
    { "inter-server",
      "four servers over InfiniBand: RTX 2080 Ti, T4, P4, RTX 3060 Ti",
      inter_server },
    { "intra-server", "one server with NVLink: two V100, two P100",
      intra_server },
    { "cpu", "one device: the processors of this machine", this_cpu },
    { "gpu", "one device: a GPU of this machine", this_gpu },
    { NULL, NULL, NULL }
};

const mo_cluster_builtin *mo_cluster_builtin_find(const char *name)
{
    for (const mo_cluster_builtin *c = mo_cluster_builtins; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}
