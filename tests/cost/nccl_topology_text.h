/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_topology_text.h - NCCL topology dumps without their boilerplate.
 */
#ifndef MO_TESTS_COST_NCCL_TOPOLOGY_TEXT_H
#define MO_TESTS_COST_NCCL_TOPOLOGY_TEXT_H

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
                      "subsystem_device='0x0000' link_speed='" speed           \
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

/* A host with one device. */
#define ONE(gpu)                                                               \
    SYSTEM CPU("0x1f", CASCADE_LAKE) CARD("0000:03:00.0", T4, GEN3) gpu        \
        "</pci></cpu></system>"

#endif
