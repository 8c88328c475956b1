/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster/nccl/nccl_rate.h. */
#include "cost/cluster/nccl/nccl_rate.h"

#include "tests/support/suite.h"

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
    ck_assert_double_eq(mo_nccl_topology_nvlink_gbps(nvlinks[_i].sm),
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

START_TEST(buses_are_as_fast_as_in_the_tables)
{
    ck_assert_double_eq_tol(
        mo_nccl_topology_pci_gbps(buses[_i].speed, buses[_i].width) / 8,
        buses[_i].gigabytes, 0.001);
}
END_TEST

SUITE(nccl_rate)
{
    EACH(nvlinks_are_as_fast_as_their_generation, COUNT(nvlinks));
    EACH(buses_are_as_fast_as_in_the_tables, COUNT(buses));
}
