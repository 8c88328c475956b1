/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster/nccl: the devices and links of NCCL topology dumps.
 * The dumps are cut down from those of NCCL 2.18 to 2.28. */
#include <stdio.h>
#include <string.h>

#include "cost/cluster.h"
#include "tests/cost/nccl_topology_text.h"
#include "tests/support/suite.h"

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

    { "the bridge counts only for paths through it",
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

    { "a link unknown to the kernel is PCIe 3 with 16 lanes",
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

    { "bridged pairs reach others over PCI",
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

    { "hosts are joined by their best cards, GPUs identified by rank",
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

    { "parts of one GPU are identified by rank",
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
    ck_assert_double_eq(known->gflops[MO_MATH_F32], 8100);
    ck_assert_int_eq(known->memory_bytes, INT64_C(16) << 30);
    ck_assert_str_eq(unknown->host, "0xbb");
    ck_assert_ptr_null(unknown->model);
    ck_assert_double_eq(unknown->gflops[MO_MATH_F32], 0);
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

SUITE(nccl_topology)
{
    EACH(dumps_become_clusters, COUNT(dumps));
    TEST(a_device_knows_where_it_runs_and_what_it_can);
    TEST(the_one_host_of_a_dump_has_no_name);
}
