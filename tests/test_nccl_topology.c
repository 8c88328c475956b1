/* Clusters from NCCL topology dumps: which devices and links come out of them.
 * The dumps are cut down from what NCCL 2.18 to 2.28 write. */
#include <stdio.h>
#include <string.h>

#include "cost/cluster.h"
#include "cost/nccl_rate.h"
#include "tests/suite.h"

/* Opening tags with the attributes that dumps have; each is closed by hand. */
#define SYSTEM "<system version='1'>\n"
#define CPU(host, cpu)                                                         \
    "<cpu host_hash='" host "' numaid='0' affinity='0000ffff' " cpu ">\n"
#define CASCADE_LAKE                                                           \
    "arch='x86_64' vendor='GenuineIntel' familyid='6' modelid='85'"
#define MILAN "arch='x86_64' vendor='AuthenticAMD' familyid='175' modelid='1'"
#define GRACE "arch='arm64' vendor='ARM'"
#define POWER "arch='ppc64' vendor='IBM'"

#define PCI(bus, class, ids, speed, width)                                     \
    "<pci busid='" bus                                                         \
    "' class='" class "' " ids " subsystem_vendor='0x0000' "                   \
                               "subsystem_device='0x0000' link_speed='" speed  \
                      "' link_width='" width "'>\n"
#define BRIDGE(bus, speed)                                                     \
    PCI(bus, "0x060400", "vendor='0x1000' device='0xc030'", speed, "16")
#define CARD(bus, device, speed)                                               \
    PCI(bus, "0x030200", "vendor='0x10de' device='" device "'", speed, "16")
#define NIC(bus, speed)                                                        \
    PCI(bus, "0x020000", "vendor='0x15b3' device='0x1021'", speed, "16")
#define GEN3 "8.0 GT/s PCIe"
#define GEN4 "16.0 GT/s PCIe"
#define GEN5 "32.0 GT/s PCIe"

#define GPU(dev, sm, rank)                                                     \
    "<gpu dev='" dev "' sm='" sm "' rank='" rank "' gdr='1'>\n"
#define NVLINK(target, count, class)                                           \
    "<nvlink target='" target "' count='" count "' tclass='" class "'/>\n"
#define TO_GPU     "0x030200"
#define TO_SWITCH  "0x068000"
#define TO_CPU     "0x068001"
#define ANY_SWITCH "fffffff:ff:ff.0"
#define NET(name, more)                                                        \
    "<nic>\n<net name='" name "' dev='0' port='1' guid='0x5e' "                \
    "maxconn='131072' gdr='1' " more "/>\n</nic>\n"

/* The PCI device ids of some GPUs. */
#define P4        "0x1bb3"
#define V100_16GB "0x1db1"
#define V100      "0x1db5"
#define T4        "0x1eb8"
#define A100      "0x20b0"
#define A100_PCIE "0x20b5"
#define H100      "0x2330"
#define H200      "0x2335"
#define GH200     "0x2342"
#define RTX4090   "0x2684"
#define L40S      "0x26b9"
#define L4        "0x27b8"
#define GB200     "0x2941"

#define H100_LINKS                                                             \
    NVLINK("0000:07:00.0", "5", TO_SWITCH)                                     \
    NVLINK("0000:06:00.0", "5", TO_SWITCH)                                     \
    NVLINK("0000:05:00.0", "4", TO_SWITCH)                                     \
    NVLINK("0000:08:00.0", "4", TO_SWITCH)

/* clang-format off */
static const struct {
    const char *what, *dump;
    const char *devices; /* "id/model ..." */
    const char *links;   /* "from>to=gbps ..." */
} dumps[] = {
    { "an NVSwitch gives every two GPUs all their links",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        BRIDGE("0000:16:00.0", GEN5)
          CARD("0000:18:00.0", H100, GEN5)
            GPU("0", "90", "0") H100_LINKS "</gpu>"
          "</pci>"
          NIC("0000:19:00.0", GEN5) NET("mlx5_0", "speed='400000'") "</pci>"
        "</pci>"
      "</cpu>"
      CPU("0x1f", CASCADE_LAKE)
        CARD("0000:5c:00.0", H100, GEN5)
          GPU("1", "90", "1") H100_LINKS "</gpu>"
        "</pci>"
        CARD("0000:5d:00.0", H100, GEN5)
          GPU("2", "90", "2") H100_LINKS "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/h100 gpu1/h100 gpu2/h100",
      "gpu0>gpu1=3600 gpu0>gpu2=3600 gpu1>gpu0=3600 gpu1>gpu2=3600 "
      "gpu2>gpu0=3600 gpu2>gpu1=3600" },

    { "the switches of a virtual machine have no address",
      SYSTEM
      CPU("0x51", CASCADE_LAKE)
        CARD("0000:05:00.0", H200, GEN4)
          GPU("0", "90", "0") NVLINK(ANY_SWITCH, "18", TO_SWITCH) "</gpu>"
        "</pci>"
        CARD("0000:06:00.0", H200, GEN4)
          GPU("1", "90", "1") NVLINK(ANY_SWITCH, "18", TO_SWITCH) "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/h200 gpu1/h200",
      "gpu0>gpu1=3600 gpu1>gpu0=3600" },

    { "a GPU with fewer links to the switches is the bottleneck",
      SYSTEM
      CPU("0x1f", MILAN)
        CARD("0000:05:00.0", A100, GEN4)
          GPU("0", "80", "0")
            NVLINK("0000:c4:00.0", "6", TO_SWITCH)
            NVLINK("0000:c5:00.0", "6", TO_SWITCH)
          "</gpu>"
        "</pci>"
        CARD("0000:06:00.0", A100, GEN4)
          GPU("1", "80", "1") NVLINK("0000:c4:00.0", "5", TO_SWITCH) "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/a100 gpu1/a100",
      "gpu0>gpu1=1000 gpu1>gpu0=1000" },

    { "without NVLink the way through a bridge counts, lane by lane",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        BRIDGE("0000:02:00.0", GEN3)
          CARD("0000:03:00.0", T4, GEN3) GPU("0", "75", "0") "</gpu></pci>"
          PCI("0000:04:00.0", "0x030200", "vendor='0x10de' device='" T4 "'",
              GEN3, "8")
            GPU("1", "75", "1") "</gpu>"
          "</pci>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/t4 gpu1/t4",
      "gpu0>gpu1=63.0154 gpu1>gpu0=63.0154" },

    { "the bridge counts only for those who pass it",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        BRIDGE("0000:02:00.0", GEN3)
          CARD("0000:03:00.0", L40S, GEN4) GPU("0", "89", "0") "</gpu></pci>"
          CARD("0000:04:00.0", L40S, GEN4) GPU("1", "89", "1") "</gpu></pci>"
        "</pci>"
        CARD("0000:05:00.0", L40S, GEN4) GPU("2", "89", "2") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/l40s gpu1/l40s gpu2/l40s",
      "gpu0>gpu1=252.062 gpu0>gpu2=126.031 gpu1>gpu0=252.062 "
      "gpu1>gpu2=126.031 gpu2>gpu0=126.031 gpu2>gpu1=126.031" },

    { "between sockets their link counts",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        CARD("0000:03:00.0", RTX4090, GEN4) GPU("0", "89", "0") "</gpu></pci>"
      "</cpu>"
      CPU("0x1f", CASCADE_LAKE)
        CARD("0000:83:00.0", RTX4090, GEN4) GPU("1", "89", "1") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/rtx4090 gpu1/rtx4090",
      "gpu0>gpu1=166.4 gpu1>gpu0=166.4" },

    { "what the kernel does not tell is PCIe 3 with 16 lanes",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        PCI("0001:00:00.0", "0x030200", "vendor='0x10de' device='" P4 "'",
            "", "0")
          GPU("0", "61", "0") "</gpu>"
        "</pci>"
        PCI("0002:00:00.0", "0x030200", "vendor='0x10de' device='" P4 "'",
            "Unknown", "0")
          GPU("1", "61", "1") "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/p4 gpu1/p4",
      "gpu0>gpu1=126.031 gpu1>gpu0=126.031" },

    /*
     * 0 === 1      Two links or one on each side, none across; what has to go
     * |     |      across takes two sides, not the sockets.
     * 3 === 2
     */
    { "GPUs in a square reach each other over the sides",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        CARD("0000:06:00.0", V100, GEN3)
          GPU("0", "70", "0")
            NVLINK("0000:07:00.0", "2", TO_GPU)
            NVLINK("0000:0b:00.0", "1", TO_GPU)
          "</gpu>"
        "</pci>"
        CARD("0000:07:00.0", V100, GEN3)
          GPU("1", "70", "1")
            NVLINK("0000:06:00.0", "2", TO_GPU)
            NVLINK("0000:0a:00.0", "1", TO_GPU)
          "</gpu>"
        "</pci>"
      "</cpu>"
      CPU("0x1f", CASCADE_LAKE)
        CARD("0000:0a:00.0", V100, GEN3)
          GPU("2", "70", "2")
            NVLINK("0000:0b:00.0", "2", TO_GPU)
            NVLINK("0000:07:00.0", "1", TO_GPU)
          "</gpu>"
        "</pci>"
        CARD("0000:0b:00.0", V100, GEN3)
          GPU("3", "70", "3")
            NVLINK("0000:0a:00.0", "2", TO_GPU)
            NVLINK("0000:06:00.0", "1", TO_GPU)
          "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/v100 gpu1/v100 gpu2/v100 gpu3/v100",
      "gpu0>gpu1=400 gpu0>gpu3=200 gpu1>gpu0=400 gpu1>gpu2=200 gpu2>gpu1=200 "
      "gpu2>gpu3=400 gpu3>gpu0=200 gpu3>gpu2=400" },

    { "bridged pairs talk to others over PCI",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        CARD("0001:00:00.0", A100_PCIE, GEN4)
          GPU("0", "80", "0") NVLINK("0002:00:00.0", "12", TO_GPU) "</gpu>"
        "</pci>"
        CARD("0002:00:00.0", A100_PCIE, GEN4)
          GPU("1", "80", "1") NVLINK("0001:00:00.0", "12", TO_GPU) "</gpu>"
        "</pci>"
      "</cpu>"
      CPU("0x1f", CASCADE_LAKE)
        CARD("0003:00:00.0", A100_PCIE, GEN4) GPU("2", "80", "2") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/a100-pcie-80gb gpu1/a100-pcie-80gb gpu2/a100-pcie-80gb",
      "gpu0>gpu1=2400 gpu0>gpu2=166.4 gpu1>gpu0=2400 gpu1>gpu2=166.4 "
      "gpu2>gpu0=166.4 gpu2>gpu1=166.4" },

    { "a GPU that is not in the dump is no target, nor is one its own",
      SYSTEM
      CPU("0x1f", CASCADE_LAKE)
        CARD("0001:00:00.0", A100_PCIE, GEN4)
          GPU("0", "80", "0") NVLINK("0009:00:00.0", "12", TO_GPU) "</gpu>"
        "</pci>"
        CARD("0002:00:00.0", A100_PCIE, GEN4)
          GPU("1", "80", "1") NVLINK("0002:00:00.0", "12", TO_GPU) "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/a100-pcie-80gb gpu1/a100-pcie-80gb",
      "gpu0>gpu1=252.062 gpu1>gpu0=252.062" },

    { "hosts are joined by their best cards, GPUs told apart by rank",
      SYSTEM
      CPU("0xaa", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "0") "</gpu></pci>"
        CARD("0000:04:00.0", L4, GEN4) GPU("1", "89", "1") "</gpu></pci>"
        NIC("0000:05:00.0", GEN4)
          NET("mlx5_0", "speed='100000' latency='1.5'")
        "</pci>"
        NET("eth0", "speed='10000'")
      "</cpu>"
      CPU("0xbb", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "2") "</gpu></pci>"
        NIC("0000:05:00.0", GEN3)
          NET("mlx5_0", "speed='200000' latency='0.5'")
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/l4 gpu1/l4 gpu2/l4",
      "gpu0>gpu1=252.062 gpu0>gpu2=100@2000 gpu1>gpu0=252.062 "
      "gpu1>gpu2=100@2000 gpu2>gpu0=100@2000 gpu2>gpu1=100@2000" },

    { "a card is no faster than its bus",
      SYSTEM
      CPU("0xaa", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "0") "</gpu></pci>"
        NIC("0000:05:00.0", GEN3) NET("mlx5_0", "speed='200000'") "</pci>"
      "</cpu>"
      CPU("0xbb", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "1") "</gpu></pci>"
        NIC("0000:05:00.0", GEN4) NET("mlx5_0", "speed='200000'") "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/l4 gpu1/l4",
      "gpu0>gpu1=126.031 gpu1>gpu0=126.031" },

    { "a card that does not know its speed has 10 Gbit/s; one that is part of "
      "another does not count",
      SYSTEM
      CPU("0xaa", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "0") "</gpu></pci>"
        NET("eth0", "speed='-1'")
        NET("mlx5_0", "speed='400000' net='0'")
      "</cpu>"
      CPU("0xbb", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "1") "</gpu></pci>"
        NIC("0000:05:00.0", GEN4) NET("mlx5_0", "speed='200000'") "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/l4 gpu1/l4",
      "gpu0>gpu1=10 gpu1>gpu0=10" },

    { "hosts without cards are not joined",
      SYSTEM
      CPU("0xaa", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "0") "</gpu></pci>"
      "</cpu>"
      CPU("0xbb", MILAN)
        CARD("0000:03:00.0", L4, GEN4) GPU("0", "89", "1") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/l4 gpu1/l4",
      "" },

    { "one NVLink domain spans hosts",
      SYSTEM
      CPU("0xaa", GRACE)
        CARD("0008:01:00.0", GB200, GEN5)
          GPU("0", "100", "0") NVLINK(ANY_SWITCH, "18", TO_SWITCH) "</gpu>"
        "</pci>"
      "</cpu>"
      CPU("0xbb", GRACE)
        CARD("0008:01:00.0", GB200, GEN5)
          GPU("0", "100", "1") NVLINK(ANY_SWITCH, "18", TO_SWITCH) "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/- gpu1/-",
      "gpu0>gpu1=7200 gpu1>gpu0=7200" },

    { "NVLinks to GPUs stay on their host, where bus ids repeat",
      SYSTEM
      CPU("0xaa", MILAN)
        CARD("0001:00:00.0", A100_PCIE, GEN4)
          GPU("0", "80", "0") NVLINK("0002:00:00.0", "12", TO_GPU) "</gpu>"
        "</pci>"
        CARD("0002:00:00.0", A100_PCIE, GEN4) GPU("1", "80", "1") "</gpu></pci>"
      "</cpu>"
      CPU("0xbb", MILAN)
        CARD("0002:00:00.0", A100_PCIE, GEN4) GPU("0", "80", "2") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/a100-pcie-80gb gpu1/a100-pcie-80gb gpu2/a100-pcie-80gb",
      "gpu0>gpu1=2400 gpu1>gpu0=2400" },

    { "a chip-to-chip link is taken where it is wider than PCI",
      SYSTEM
      CPU("0xaa", GRACE)
        PCI("0009:01:00.0", "0x030200", "vendor='0x10de' device='" GH200 "'",
            "2.5 GT/s PCIe", "1")
          GPU("0", "90", "0") "<c2c bw='44712' count='10'/></gpu>"
        "</pci>"
        CARD("0000:03:00.0", L4, GEN4) GPU("1", "89", "1") "</gpu></pci>"
      "</cpu>"
      "</system>",
      "gpu0/- gpu1/l4",
      "gpu0>gpu1=252.062 gpu1>gpu0=252.062" },

    { "on POWER the way to the CPU is NVLink, too",
      SYSTEM
      CPU("0xaa", POWER)
        CARD("0004:04:00.0", V100_16GB, GEN3)
          GPU("0", "70", "0") NVLINK("0004:00:00.0", "3", TO_CPU) "</gpu>"
        "</pci>"
        CARD("0004:05:00.0", V100_16GB, GEN3)
          GPU("1", "70", "1") NVLINK("0004:00:00.1", "2", TO_CPU) "</gpu>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu0/v100-16gb gpu1/v100-16gb",
      "gpu0>gpu1=400 gpu1>gpu0=400" },

    { "parts of one GPU are told apart by rank",
      SYSTEM
      CPU("0xaa", GRACE)
        PCI("0002:81:00.0", "0x030200", "vendor='0x10de' device='0x307f'",
            "64.0 GT/s PCIe", "2")
          "<gpu dev='0' sm='107' mlopart='0' rank='4'/>"
          "<gpu dev='0' sm='107' mlopart='1' rank='5'/>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu4/- gpu5/-",
      "gpu4>gpu5=121 gpu5>gpu4=121" },

    { "old dumps have no hosts and no classes, new ones elements of their own",
      SYSTEM
      "<cpu numaid='0'>"
        "<future>"
          "<pci busid='0000:39:00.0' link_speed='8 GT/s' link_width='16'>"
            "<gpu dev='3' sm='60' rank='0'>"
              "<nvlink target='0000:3b:00.0' count='4'/>"
            "</gpu>"
          "</pci>"
        "</future>"
        "<pci busid='0000:3b:00.0' link_speed='8 GT/s' link_width='16'>"
          "<pcilink target='0000:01:00.0'/>"
          "<gpu dev='5' sm='60' rank='1'/>"
        "</pci>"
      "</cpu>"
      "</system>",
      "gpu3/- gpu5/-",
      "gpu3>gpu5=640 gpu5>gpu3=640" },
};
/* clang-format on */

static mo_cluster *read_dump(const char *text)
{
    mo_cluster *cluster;

    MUST(
        mo_cluster_read_memory("topo.xml", text, strlen(text), &cluster, &err));
    return cluster;
}

static const char *devices_of(const mo_cluster *cluster)
{
    static char text[4096];
    size_t n = 0;

    text[0] = '\0';
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *device = &cluster->devices[k];

        n += (size_t) snprintf(text + n, sizeof text - n, "%s%s/%s",
                               k > 0 ? " " : "", device->id,
                               device->known ? device->known->name : "-");
    }
    return text;
}

static const char *links_of(const mo_cluster *cluster)
{
    static char text[4096];
    size_t n = 0;

    text[0] = '\0';
    for (int l = 0; l < cluster->n_links; l++) {
        const mo_link *link = &cluster->links[l];

        n +=
            (size_t) snprintf(text + n, sizeof text - n, "%s%s>%s=%g",
                              l > 0 ? " " : "", cluster->devices[link->from].id,
                              cluster->devices[link->to].id, link->gbps);
        if (link->latency_ns > 0)
            n += (size_t) snprintf(text + n, sizeof text - n, "@%lld",
                                   (long long) link->latency_ns);
    }
    return text;
}

START_TEST(dumps_become_clusters)
{
    mo_cluster *cluster = read_dump(dumps[_i].dump);

    ck_assert_msg(strcmp(devices_of(cluster), dumps[_i].devices) == 0, "%s: %s",
                  dumps[_i].what, devices_of(cluster));
    ck_assert_msg(strcmp(links_of(cluster), dumps[_i].links) == 0, "%s: %s",
                  dumps[_i].what, links_of(cluster));
    mo_cluster_free(cluster);
}
END_TEST

/* clang-format off */
static const char two_hosts[] =
    SYSTEM
    CPU("0xaa", CASCADE_LAKE)
      CARD("0000:03:00.0", T4, GEN3) GPU("4", "75", "9") "</gpu></pci>"
    "</cpu>"
    CPU("0xbb", CASCADE_LAKE)
      CARD("0000:03:00.0", "0xffff", GEN3) GPU("4", "75", "2") "</gpu></pci>"
    "</cpu>"
    "</system>";

#define ONE(gpu)                                                              \
    SYSTEM CPU("0x1f", CASCADE_LAKE) CARD("0000:03:00.0", T4, GEN3) gpu       \
    "</pci></cpu></system>"
/* clang-format on */

START_TEST(a_device_knows_where_it_runs_and_what_it_can)
{
    mo_cluster *cluster = read_dump(two_hosts);
    const mo_device *known = &cluster->devices[0];
    const mo_device *unknown = &cluster->devices[1];

    ck_assert_str_eq(known->id, "gpu9");
    ck_assert_int_eq(known->rank, 9);
    ck_assert_int_eq(known->gpu, 4);
    ck_assert_str_eq(known->host, "0xaa");
    ck_assert_str_eq(known->model, "t4");
    ck_assert_double_eq(known->gflops, 8100);
    ck_assert_int_eq(known->memory_bytes, INT64_C(16) << 30);
    ck_assert_str_eq(unknown->host, "0xbb");
    ck_assert_ptr_null(unknown->model);
    ck_assert_double_eq(unknown->gflops, 0);
    ck_assert_int_eq(unknown->memory_bytes, INT64_MAX);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(the_one_host_of_a_dump_has_no_name)
{
    mo_cluster *cluster = read_dump(ONE(GPU("4", "75", "9") "</gpu>"));

    ck_assert_str_eq(cluster->devices[0].id, "gpu4");
    ck_assert_ptr_null(cluster->devices[0].host);
    mo_cluster_free(cluster);
}
END_TEST

/* clang-format off */
static const struct {
    const char *dump, *said;
} refused[] = {
    { SYSTEM "</system>",
      "t.xml: a topology without a <gpu>; dump it from a program that uses "
      "NCCL on the GPUs" },
    { ONE("<gpu sm='75' rank='0'/>"),
      "t.xml:4: a <gpu> without dev, its number; dump the topology again" },
    { SYSTEM "<gpu dev='0'/></system>",
      "t.xml:2: a <gpu> outside of <cpu> and <pci>; dump the topology "
      "again" },
    { ONE("<gpu dev='x'/>"),
      "t.xml:4: dev 'x' of a <gpu> is not a number that makes sense; dump the "
      "topology again" },
    { ONE(GPU("0", "75", "0") NVLINK("a", "99999999999", TO_GPU) "</gpu>"),
      "t.xml:5: count '99999999999' of a <nvlink> is not a number that makes "
      "sense; dump the topology again" },
    { SYSTEM CPU("0x1f", CASCADE_LAKE) NET("eth0", "latency='nan'")
      "</cpu></system>",
      "t.xml:4: latency 'nan' of a <net> is not a number that makes sense; "
      "dump the topology again" },
    { ONE(GPU("0", "75", "0") "</gpu>\n" GPU("0", "75", "1") "</gpu>"),
      "t.xml:6: device 'gpu0' is there already, from line 4; give one of "
      "them another id" },
    { ONE("<gpu dev='0' mlopart='0'/>"),
      "t.xml:4: a <gpu> without rank; where dev does not tell GPUs apart, "
      "each needs one" },
};
/* clang-format on */

START_TEST(damaged_dumps_are_refused)
{
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };
    char said[2048];

    ck_assert_int_eq(mo_cluster_read_memory("t.xml", refused[_i].dump,
                                            strlen(refused[_i].dump), &cluster,
                                            &err),
                     MO_E_INPUT);
    ck_assert_ptr_null(cluster);
    ck_assert_str_eq(mo_error_format(&err, said, sizeof said),
                     refused[_i].said);
}
END_TEST

/* Both directions of an NVLink together, as vendors count: 40 GB/s on P100, 50
 * on V100, A100 and H100, 28 on an RTX 3090, 100 on B200. */
static const struct {
    int sm;
    double gbps;
} nvlinks[] = {
    { 60, 160 },   { 70, 200 }, { 75, 200 },  { 80, 200 },
    { 86, 112.5 }, { 90, 200 }, { 100, 400 }, { 103, 400 },
};

START_TEST(nvlinks_are_as_fast_as_their_generation)
{
    ck_assert_double_eq(mo_nccl_nvlink_gbps(nvlinks[_i].sm), nvlinks[_i].gbps);
}
END_TEST

/* One direction in GB/s, as tables of PCI Express print it. */
static const struct {
    const char *speed;
    int width;
    double gigabytes;
} buses[] = {
    { "2.5 GT/s PCIe", 16, 4.000 },   { "5.0 GT/s PCIe", 16, 8.000 },
    { "5 GT/s", 4, 2.000 },           { "8 GT/s", 16, 15.754 },
    { "16.0 GT/s PCIe", 16, 31.508 }, { "32.0 GT/s PCIe", 8, 31.508 },
    { "64.0 GT/s PCIe", 16, 121.0 },  { "", 16, 15.754 },
    { "nan GT/s", 16, 15.754 },       { "1e300 GT/s", 16, 15.754 },
    { "-1 GT/s", 0, 15.754 },         { "8GT/s", 1000, 15.754 },
};

START_TEST(buses_are_as_fast_as_the_tables_say)
{
    ck_assert_double_eq_tol(mo_nccl_pci_gbps(buses[_i].speed, buses[_i].width) /
                                8,
                            buses[_i].gigabytes, 0.001);
}
END_TEST

SUITE(nccl_topology)
{
    EACH(dumps_become_clusters, COUNT(dumps));
    TEST(a_device_knows_where_it_runs_and_what_it_can);
    TEST(the_one_host_of_a_dump_has_no_name);
    EACH(damaged_dumps_are_refused, COUNT(refused));
    EACH(nvlinks_are_as_fast_as_their_generation, COUNT(nvlinks));
    EACH(buses_are_as_fast_as_the_tables_say, COUNT(buses));
}
