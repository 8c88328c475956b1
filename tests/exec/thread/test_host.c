/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/host.h: memory limits of the control groups around a process,
 * on synthetic machines. */
#include <config.h>

#include "base/host.h"

#include <sys/stat.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

typedef struct group_case {
    const char *cgroup;      /* /proc/self/cgroup */
    const char *files[6][2]; /* below /sys/fs/cgroup, with contents */
    int64_t limit, available;
} group_case;

static const group_case group_cases[] = {
    { "0::/\n",
      { { "memory.max", "1000\n" }, { "memory.current", "300\n" } },
      1000,
      700 },
    /* the innermost group and those around it */
    { "0::/a/b\n",
      { { "memory.max", "9000\n" },
        { "memory.current", "8500\n" },
        { "a/memory.max", "2000\n" },
        { "a/memory.current", "100\n" },
        { "a/b/memory.max", "max\n" },
        { "a/b/memory.current", "50\n" } },
      2000,
      500 },
    /* the path of the host, of which a container has the end only */
    { "0::/host/docker/5e1\n",
      { { "memory.max", "1000\n" }, { "memory.current", "1200\n" } },
      1000,
      0 },
    /* pages of files are reclaimed */
    { "0::/a\n",
      { { "a/memory.max", "1000\n" },
        { "a/memory.current", "900\n" },
        { "a/memory.stat", "anon 100\ninactive_file 500\nactive_file 300\n" } },
      1000,
      900 },
    /* version 1 */
    { "5:cpu:/x\n4:memory,blkio:/a\n",
      { { "memory/a/memory.limit_in_bytes", "1000\n" },
        { "memory/a/memory.usage_in_bytes", "400\n" },
        { "cpu/x/memory.limit_in_bytes", "1\n" } },
      1000,
      600 },
    { "0::/\n", { { "memory.max", "max\n" } }, INT64_MAX, INT64_MAX },
    { "nonsense\n",
      { { "memory.max", "10\n" }, { "memory.current", "3\n" } },
      INT64_MAX,
      INT64_MAX },
};

/* Writes the file and creates the folders around it. */
static void write_below(const char *root, const char *file, const char *text)
{
    char path[512], part[512];

    snprintf(path, sizeof path, "%s/%s", root, file);
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int) (at - path), path);
        mkdir(part, 0777);
    }
    scratch_write(path, text);
}

START_TEST(limits_of_all_control_groups_count)
{
    const group_case *c = &group_cases[_i];
    mo_host_group_memory memory;
    char root[32], file[256];

    snprintf(root, sizeof root, "groups%d", _i);
    write_below(root, "proc/self/cgroup", c->cgroup);
    for (int i = 0; i < 6 && c->files[i][0]; i++) {
        snprintf(file, sizeof file, "sys/fs/cgroup/%s", c->files[i][0]);
        write_below(root, file, c->files[i][1]);
    }
    memory = mo_host_group_memory_read(root);
    ck_assert_int_eq(memory.limit, c->limit);
    ck_assert_int_eq(memory.available, c->available);
}
END_TEST

START_TEST(a_machine_without_groups_has_no_limit)
{
    mo_host_group_memory memory = mo_host_group_memory_read("absent");

    ck_assert_int_eq(memory.limit, INT64_MAX);
    ck_assert_int_eq(memory.available, INT64_MAX);
    ck_assert_int_gt(mo_host_available_memory_bytes(), 0);
    ck_assert_int_le(mo_host_available_memory_bytes(),
                     mo_host_memory_limit_bytes());
}
END_TEST

SUITE(host)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(limits_of_all_control_groups_count, COUNT(group_cases));
    TEST(a_machine_without_groups_has_no_limit);
}
