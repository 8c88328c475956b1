/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster/nccl: damaged NCCL topology dumps. */
#include <string.h>

#include "cost/cluster.h"
#include "tests/cost/nccl_topology_text.h"
#include "tests/support/suite.h"

/* clang-format off */
static const struct {
    const char *dump, *message;
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
    char message[2048];

    ck_assert_int_eq(mo_cluster_read_memory("t.xml", refused[_i].dump,
                                            strlen(refused[_i].dump), &cluster,
                                            &err),
                     MO_E_INPUT);
    ck_assert_ptr_null(cluster);
    ck_assert_str_eq(mo_error_format(&err, message, sizeof message),
                     refused[_i].message);
}
END_TEST

SUITE(nccl_topology_refused)
{
    EACH(damaged_dumps_are_refused, COUNT(refused));
}
