/* Clusters from NCCL topology dumps: which devices and links come out of them.
 * The dumps are cut down from what NCCL 2.18 to 2.28 write. */
#include <stdio.h>
#include <string.h>

#include "cost/cluster.h"
#include "cost/nccl_rate.h"
#include "tests/suite.h"

#define SYSTEM(inner) "<system version=\"1\">\n" inner "</system>\n"
#define CPU(host, numa, vendor, family, model, inner)                         \
    "<cpu host_hash=\"" host "\" numaid=\"" numa                              \
    "\" affinity=\"0000ffff\" arch=\"x86_64\" vendor=\"" vendor               \
    "\" familyid=\"" family "\" modelid=\"" model "\">\n" inner "</cpu>\n"
#define XEON(numa, inner) CPU("0x1f", numa, "GenuineIntel", "6", "85", inner)
#define PCI(bus, class, vendor, device, speed, width, inner)                  \
    "<pci busid=\"" bus "\" class=\"" class "\" vendor=\"" vendor             \
    "\" device=\"" device "\" subsystem_vendor=\"0x0000\" "                   \
    "subsystem_device=\"0x0000\" link_speed=\"" speed                         \
    "\" link_width=\"" width "\">\n" inner "</pci>\n"
#define BRIDGE(bus, speed, inner)                                             \
    PCI(bus, "0x060400", "0x1000", "0xc030", speed, "16", inner)
#define CARD(bus, device, speed, inner)                                       \
    PCI(bus, "0x030200", "0x10de", device, speed, "16", inner)
#define GPU(dev, sm, rank, inner)                                             \
    "<gpu dev=\"" dev "\" sm=\"" sm "\" rank=\"" rank "\" gdr=\"1\">\n" inner \
    "</gpu>\n"
#define NVLINK(target, count, class)                                          \
    "<nvlink target=\"" target "\" count=\"" count "\" tclass=\"" class       \
    "\"/>\n"
#define TO_GPU "0x030200"
#define TO_SWITCH "0x068000"
#define TO_CPU "0x068001"
#define NET(name, more)                                                       \
    "<nic>\n<net name=\"" name "\" dev=\"0\" port=\"1\" guid=\"0x5e\" "       \
    "maxconn=\"131072\" gdr=\"1\" " more "/>\n</nic>\n"
#define NIC(bus, speed, name, more)                                           \
    PCI(bus, "0x020000", "0x15b3", "0x1021", speed, "16", NET(name, more))

#define GEN3 "8.0 GT/s PCIe"
#define GEN4 "16.0 GT/s PCIe"
#define GEN5 "32.0 GT/s PCIe"

#define H100_LINKS                                                            \
    NVLINK("0000:07:00.0", "5", TO_SWITCH)                                    \
    NVLINK("0000:06:00.0", "5", TO_SWITCH)                                    \
    NVLINK("0000:05:00.0", "4", TO_SWITCH)                                    \
    NVLINK("0000:08:00.0", "4", TO_SWITCH)

#define V100(bus, dev, one, other)                                            \
    CARD(bus, "0x1db5", GEN3,                                                 \
         GPU(dev, "70", dev,                                                  \
             NVLINK(one, "2", TO_GPU) NVLINK(other, "1", TO_GPU)))

#define A100(bus, dev, other)                                                 \
    CARD(bus, "0x20b5", GEN4,                                                 \
         GPU(dev, "80", dev, NVLINK(other, "12", TO_GPU)))

static const struct {
    const char *what, *dump;
    const char *devices;   /* "id/model ..." */
    const char *links;     /* "from>to=gbps ..." */
} dumps[] = {
    { "an NVSwitch gives every two GPUs all their links",
      SYSTEM(XEON("0", BRIDGE("0000:16:00.0", GEN5,
                              CARD("0000:18:00.0", "0x2330", GEN5,
                                   GPU("0", "90", "0", H100_LINKS)) NIC(
                                  "0000:19:00.0", GEN5, "mlx5_0",
                                  "speed=\"400000\"")))
             XEON("1", CARD("0000:5c:00.0", "0x2330", GEN5,
                            GPU("1", "90", "1", H100_LINKS)) CARD(
                           "0000:5d:00.0", "0x2330", GEN5,
                           GPU("2", "90", "2", H100_LINKS)))),
      "gpu0/h100 gpu1/h100 gpu2/h100",
      "gpu0>gpu1=3600 gpu0>gpu2=3600 gpu1>gpu0=3600 gpu1>gpu2=3600 "
      "gpu2>gpu0=3600 gpu2>gpu1=3600" },

    { "the switches of a virtual machine have no address",
      SYSTEM(CPU("0x51", "-1", "GenuineIntel", "6", "207",
                 CARD("0000:05:00.0", "0x2335", GEN4,
                      GPU("0", "90", "0",
                          NVLINK("fffffff:ff:ff.0", "18", TO_SWITCH)))
                     CARD("0000:06:00.0", "0x2335", GEN4,
                          GPU("1", "90", "1",
                              NVLINK("fffffff:ff:ff.0", "18", TO_SWITCH))))),
      "gpu0/h200 gpu1/h200", "gpu0>gpu1=3600 gpu1>gpu0=3600" },

    { "a GPU with fewer links to the switches is the bottleneck",
      SYSTEM(XEON("0", CARD("0000:05:00.0", "0x20b0", GEN4,
                            GPU("0", "80", "0",
                                NVLINK("0000:c4:00.0", "6", TO_SWITCH)
                                    NVLINK("0000:c5:00.0", "6", TO_SWITCH)))
                      CARD("0000:06:00.0", "0x20b0", GEN4,
                           GPU("1", "80", "1",
                               NVLINK("0000:c4:00.0", "5", TO_SWITCH))))),
      "gpu0/a100 gpu1/a100", "gpu0>gpu1=1000 gpu1>gpu0=1000" },

    { "without NVLink the way through a bridge counts, lane by lane",
      SYSTEM(XEON("0", BRIDGE("0000:02:00.0", GEN3,
                              CARD("0000:03:00.0", "0x1eb8", GEN3,
                                   GPU("0", "75", "0", ""))
                                  PCI("0000:04:00.0", "0x030200", "0x10de",
                                      "0x1eb8", GEN3, "8",
                                      GPU("1", "75", "1", ""))))),
      "gpu0/t4 gpu1/t4", "gpu0>gpu1=63.0154 gpu1>gpu0=63.0154" },

    { "the bridge counts only for those who pass it",
      SYSTEM(XEON("0", BRIDGE("0000:02:00.0", GEN3,
                              CARD("0000:03:00.0", "0x26b9", GEN4,
                                   GPU("0", "89", "0", ""))
                                  CARD("0000:04:00.0", "0x26b9", GEN4,
                                       GPU("1", "89", "1", "")))
                           CARD("0000:05:00.0", "0x26b9", GEN4,
                                GPU("2", "89", "2", "")))),
      "gpu0/l40s gpu1/l40s gpu2/l40s",
      "gpu0>gpu1=252.062 gpu0>gpu2=126.031 gpu1>gpu0=252.062 "
      "gpu1>gpu2=126.031 gpu2>gpu0=126.031 gpu2>gpu1=126.031" },

    { "between sockets their link counts",
      SYSTEM(XEON("0", CARD("0000:03:00.0", "0x2684", GEN4,
                            GPU("0", "89", "0", "")))
             XEON("1", CARD("0000:83:00.0", "0x2684", GEN4,
                            GPU("1", "89", "1", "")))),
      "gpu0/rtx4090 gpu1/rtx4090", "gpu0>gpu1=166.4 gpu1>gpu0=166.4" },

    { "what the kernel does not tell is PCIe 3 with 16 lanes",
      SYSTEM(XEON("0", PCI("0001:00:00.0", "0x030200", "0x10de", "0x1bb3", "",
                           "0", GPU("0", "61", "0", ""))
                           PCI("0002:00:00.0", "0x030200", "0x10de", "0x1bb3",
                               "Unknown", "0", GPU("1", "61", "1", "")))),
      "gpu0/p4 gpu1/p4", "gpu0>gpu1=126.031 gpu1>gpu0=126.031" },

    /* 0 - 1     Each side has one or two links; the diagonals have none.  */
    /* |   |                                                                */
    /* 3 - 2                                                                */
    { "GPUs in a square reach each other over the sides",
      SYSTEM(XEON("0", V100("0000:06:00.0", "0", "0000:07:00.0",
                            "0000:0b:00.0")
                           V100("0000:07:00.0", "1", "0000:06:00.0",
                                "0000:0a:00.0"))
             XEON("1", V100("0000:0a:00.0", "2", "0000:0b:00.0",
                            "0000:07:00.0")
                           V100("0000:0b:00.0", "3", "0000:0a:00.0",
                                "0000:06:00.0"))),
      "gpu0/v100 gpu1/v100 gpu2/v100 gpu3/v100",
      "gpu0>gpu1=400 gpu0>gpu3=200 gpu1>gpu0=400 gpu1>gpu2=200 gpu2>gpu1=200 "
      "gpu2>gpu3=400 gpu3>gpu0=200 gpu3>gpu2=400" },

    { "two bridged pairs talk over PCI",
      SYSTEM(XEON("0", A100("0001:00:00.0", "0", "0002:00:00.0")
                           A100("0002:00:00.0", "1", "0001:00:00.0"))
             XEON("1", A100("0003:00:00.0", "2", "0004:00:00.0")
                           A100("0004:00:00.0", "3", "0003:00:00.0"))),
      "gpu0/a100-pcie-80gb gpu1/a100-pcie-80gb gpu2/a100-pcie-80gb "
      "gpu3/a100-pcie-80gb",
      "gpu0>gpu1=2400 gpu0>gpu2=166.4 gpu0>gpu3=166.4 gpu1>gpu0=2400 "
      "gpu1>gpu2=166.4 gpu1>gpu3=166.4 gpu2>gpu0=166.4 gpu2>gpu1=166.4 "
      "gpu2>gpu3=2400 gpu3>gpu0=166.4 gpu3>gpu1=166.4 gpu3>gpu2=2400" },

    { "a GPU that is not in the dump is no target",
      SYSTEM(XEON("0", A100("0001:00:00.0", "0", "0009:00:00.0")
                           A100("0002:00:00.0", "1", "0002:00:00.0"))),
      "gpu0/a100-pcie-80gb gpu1/a100-pcie-80gb",
      "gpu0>gpu1=252.062 gpu1>gpu0=252.062" },

    { "hosts are joined by their best cards, told apart by rank",
      SYSTEM(CPU("0xaa", "0", "AuthenticAMD", "175", "1",
                 CARD("0000:03:00.0", "0x27b8", GEN4,
                      GPU("0", "89", "0", ""))
                     CARD("0000:04:00.0", "0x27b8", GEN4,
                          GPU("1", "89", "1", ""))
                         NIC("0000:05:00.0", GEN4, "mlx5_0",
                             "speed=\"100000\" latency=\"1.5\"")
                             NET("eth0", "speed=\"10000\""))
             CPU("0xbb", "0", "AuthenticAMD", "175", "1",
                 CARD("0000:03:00.0", "0x27b8", GEN4,
                      GPU("0", "89", "2", ""))
                     NIC("0000:05:00.0", GEN3, "mlx5_0",
                         "speed=\"200000\" latency=\"0.5\""))),
      "gpu0/l4 gpu1/l4 gpu2/l4",
      "gpu0>gpu1=252.062 gpu0>gpu2=100@2000 gpu1>gpu0=252.062 "
      "gpu1>gpu2=100@2000 gpu2>gpu0=100@2000 gpu2>gpu1=100@2000" },

    { "a card that does not know its speed has 10 Gbit/s, a merged one counts "
      "once",
      SYSTEM(CPU("0xaa", "0", "AuthenticAMD", "175", "17",
                 CARD("0000:03:00.0", "0x27b8", GEN4, GPU("0", "89", "0", ""))
                     NET("eth0", "speed=\"-1\"")
                         NET("mlx5_0", "speed=\"400000\" net=\"0\""))
             CPU("0xbb", "0", "AuthenticAMD", "175", "17",
                 CARD("0000:03:00.0", "0x27b8", GEN4, GPU("0", "89", "1", ""))
                     NIC("0000:05:00.0", GEN4, "mlx5_0",
                         "speed=\"200000\""))),
      "gpu0/l4 gpu1/l4", "gpu0>gpu1=10 gpu1>gpu0=10" },

    { "hosts without cards are not joined",
      SYSTEM(CPU("0xaa", "0", "AuthenticAMD", "175", "17",
                 CARD("0000:03:00.0", "0x27b8", GEN4, GPU("0", "89", "0", "")))
             CPU("0xbb", "0", "AuthenticAMD", "175", "17",
                 CARD("0000:03:00.0", "0x27b8", GEN4,
                      GPU("0", "89", "1", "")))),
      "gpu0/l4 gpu1/l4", "" },

    { "one NVLink domain spans hosts",
      SYSTEM(CPU("0xaa", "0", "ARM", "0", "0",
                 CARD("0008:01:00.0", "0x2941", GEN5,
                      GPU("0", "100", "0",
                          NVLINK("fffffff:ff:ff.0", "18", TO_SWITCH))))
             CPU("0xbb", "0", "ARM", "0", "0",
                 CARD("0008:01:00.0", "0x2941", GEN5,
                      GPU("0", "100", "1",
                          NVLINK("fffffff:ff:ff.0", "18", TO_SWITCH))))),
      "gpu0/- gpu1/-", "gpu0>gpu1=7200 gpu1>gpu0=7200" },

    { "a chip-to-chip link is taken where it is wider than PCI",
      SYSTEM(CPU("0xaa", "0", "ARM", "0", "0",
                 PCI("0009:01:00.0", "0x030200", "0x10de", "0x2342",
                     "2.5 GT/s PCIe", "1",
                     GPU("0", "90", "0", "<c2c bw=\"44712\" count=\"10\"/>"))
                     CARD("0000:03:00.0", "0x27b8", GEN4,
                          GPU("1", "89", "1", "")))),
      "gpu0/- gpu1/l4", "gpu0>gpu1=252.062 gpu1>gpu0=252.062" },

    { "on POWER the way to the CPU is NVLink, too",
      SYSTEM(CPU("0xaa", "0", "IBM", "0", "0",
                 CARD("0004:04:00.0", "0x1db1", GEN3,
                      GPU("0", "70", "0",
                          NVLINK("0004:00:00.0", "3", TO_CPU)))
                     CARD("0004:05:00.0", "0x1db1", GEN3,
                          GPU("1", "70", "1",
                              NVLINK("0004:00:00.1", "2", TO_CPU))))),
      "gpu0/v100-16gb gpu1/v100-16gb", "gpu0>gpu1=400 gpu1>gpu0=400" },

    { "parts of one GPU are told apart by rank",
      SYSTEM(CPU("0xaa", "0", "ARM", "0", "0",
                 PCI("0002:81:00.0", "0x030200", "0x10de", "0x307f",
                     "64.0 GT/s PCIe", "2",
                     "<gpu dev=\"0\" sm=\"107\" mlopart=\"0\" rank=\"4\"/>"
                     "<gpu dev=\"0\" sm=\"107\" mlopart=\"1\" rank=\"5\"/>"))),
      "gpu4/- gpu5/-", "gpu4>gpu5=121 gpu5>gpu4=121" },

    { "old dumps have no hosts and no classes, new ones elements of their own",
      "<system version=\"1\"><cpu numaid=\"0\"><future><pci "
      "busid=\"0000:39:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
      "link_width=\"16\"><gpu dev=\"3\" sm=\"60\" rank=\"0\"><nvlink "
      "target=\"0000:3b:00.0\" count=\"4\"/></gpu></pci></future><pci "
      "busid=\"0000:3b:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
      "link_width=\"16\"><pcilink target=\"0000:01:00.0\"/><gpu dev=\"5\" "
      "sm=\"60\" rank=\"1\"/></pci></cpu></system>",
      "gpu3/- gpu5/-", "gpu3>gpu5=640 gpu5>gpu3=640" },
};

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

        n += (size_t) snprintf(text + n, sizeof text - n, "%s%s>%s=%g",
                               l > 0 ? " " : "",
                               cluster->devices[link->from].id,
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

    ck_assert_msg(strcmp(devices_of(cluster), dumps[_i].devices) == 0,
                  "%s: %s", dumps[_i].what, devices_of(cluster));
    ck_assert_msg(strcmp(links_of(cluster), dumps[_i].links) == 0, "%s: %s",
                  dumps[_i].what, links_of(cluster));
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(a_device_knows_where_it_runs_and_what_it_can)
{
    mo_cluster *cluster = read_dump(
        SYSTEM(CPU("0xaa", "0", "GenuineIntel", "6", "85",
                   CARD("0000:03:00.0", "0x1eb8", GEN3,
                        GPU("4", "75", "9", "")))
               CPU("0xbb", "0", "GenuineIntel", "6", "85",
                   CARD("0000:03:00.0", "0xffff", GEN3,
                        GPU("4", "75", "2", "")))));
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
    mo_cluster *cluster = read_dump(SYSTEM(
        XEON("0", CARD("0000:03:00.0", "0x1eb8", GEN3,
                       GPU("4", "75", "9", "")))));

    ck_assert_str_eq(cluster->devices[0].id, "gpu4");
    ck_assert_ptr_null(cluster->devices[0].host);
    mo_cluster_free(cluster);
}
END_TEST

#define ONE(gpu) SYSTEM(XEON("0", CARD("0000:03:00.0", "0x1eb8", GEN3, gpu)))

static const struct {
    const char *dump, *said;
} refused[] = {
    { SYSTEM(""),
      "t.xml: a topology without a <gpu>; dump it from a program that uses "
      "NCCL on the GPUs" },
    { ONE("<gpu sm=\"75\" rank=\"0\"/>"),
      "t.xml:4: a <gpu> without dev, its number; dump the topology again" },
    { SYSTEM("<gpu dev=\"0\"/>"),
      "t.xml:2: a <gpu> outside of <cpu> and <pci>; dump the topology "
      "again" },
    { ONE("<gpu dev=\"x\"/>"),
      "t.xml:4: dev 'x' of a <gpu> is not a number that makes sense; dump the "
      "topology again" },
    { ONE(GPU("0", "75", "0", NVLINK("a", "99999999999", TO_GPU))),
      "t.xml:5: count '99999999999' of a <nvlink> is not a number that makes "
      "sense; dump the topology again" },
    { SYSTEM(XEON("0", NET("eth0", "latency=\"nan\""))),
      "t.xml:4: latency 'nan' of a <net> is not a number that makes sense; "
      "dump the topology again" },
    { ONE(GPU("0", "75", "0", "")
              GPU("0", "75", "1", "")),
      "t.xml:6: device 'gpu0' is there already, from line 4; give one of "
      "them another id" },
    { ONE("<gpu dev=\"0\" mlopart=\"0\"/>"),
      "t.xml:4: a <gpu> without rank; where dev does not tell GPUs apart, "
      "each needs one" },
};

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
    { 60, 160 }, { 70, 200 },   { 75, 200 },  { 80, 200 },
    { 86, 112.5 }, { 90, 200 }, { 100, 400 }, { 103, 400 },
};

START_TEST(nvlinks_are_as_fast_as_their_generation)
{
    ck_assert_double_eq(mo_nccl_nvlink_gbps(nvlinks[_i].sm),
                        nvlinks[_i].gbps);
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
    ck_assert_double_eq_tol(
        mo_nccl_pci_gbps(buses[_i].speed, buses[_i].width) / 8,
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
