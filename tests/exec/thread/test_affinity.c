/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/thread/affinity.h on synthetic machines. */
#include <config.h>

#include "exec/thread/affinity.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#include "base/random.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { MOST_CPUS = 64, MOST_DEVICES = 6 };

/* Creates the folder and those around it. */
static void make_folder(const char *path)
{
    char part[512];

    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int) (at - path), path);
        mkdir(part, 0777);
    }
    mkdir(path, 0777);
}

#ifdef HAVE_HWLOC
/* Describes a machine to hwloc. The usual numbering: the second hardware
 * threads of all cores come after the first ones. */
static void describe_machine(char text[1024], int packages,
                             int cores_of_package, int siblings)
{
    int cores = packages * cores_of_package;
    int length =
        snprintf(text, 1024, "pack:%d core:%d pu:%d(indexes=", packages,
                 cores_of_package, siblings);

    for (int i = 0; i < cores * siblings; i++)
        length +=
            snprintf(text + length, 1024 - (size_t) length, "%s%d",
                     i > 0 ? "," : "", i / siblings + i % siblings * cores);
    snprintf(text + length, 1024 - (size_t) length, ")");
}

static void set_machine(int packages, int cores_of_package, int siblings)
{
    char text[1024];

    describe_machine(text, packages, cores_of_package, siblings);
    ck_assert_int_eq(setenv("HWLOC_SYNTHETIC", text, 1), 0);
}
#endif

/* The first n processors, with control groups below root. */
static mo_thread_cpus read_first(const char *root, int n)
{
    int numbers[MOST_CPUS];
    mo_thread_cpus cpus = { 0 };

    for (int i = 0; i < n; i++)
        numbers[i] = i;
    MUST(mo_thread_cpus_read_at(root, numbers, n, &cpus, &err));
    return cpus;
}

static void check_assigned(const mo_thread_cpus *cpus, const int *threads,
                           int n, const char *expected)
{
    int assigned[MOST_CPUS], at = 0;
    char text[512] = "";
    size_t length = 0;

    if (!mo_thread_cpus_assign(cpus, threads, n, assigned))
        length += (size_t) snprintf(text, sizeof text, "none");
    for (int k = 0; k < n && strcmp(text, "none") != 0; k++)
        for (int t = 0; t < threads[k]; t++)
            length +=
                (size_t) snprintf(text + length, sizeof text - length, "%s%d",
                                  t > 0   ? ","
                                  : k > 0 ? " "
                                          : "",
                                  assigned[at++]);
    ck_assert_str_eq(text, expected);
}

#ifdef HAVE_HWLOC
typedef struct assign_case {
    int packages, cores, siblings;
    int threads[MOST_DEVICES], n;
    const char *expected;
} assign_case;

static const assign_case assign_cases[] = {
    { 1, 2, 1, { 1, 1 }, 2, "0 1" },
    { 1, 2, 1, { 2, 1 }, 2, "none" },
    { 1, 1, 1, { 1 }, 1, "0" },
    { 1, 1, 1, { 1, 1 }, 2, "none" },
    /* cores of their own before siblings */
    { 1, 4, 2, { 1, 1 }, 2, "0 1" },
    { 1, 4, 2, { 2, 2 }, 2, "0,1 2,3" },
    /* siblings within a device */
    { 1, 4, 2, { 4, 4 }, 2, "0,1,4,5 2,3,6,7" },
    { 1, 4, 2, { 3, 2 }, 2, "0,1,4 2,3" },
    { 1, 2, 2, { 1, 2 }, 2, "0 1,3" },
    /* more devices than cores */
    { 1, 4, 2, { 1, 1, 1, 1, 1 }, 5, "0 1 2 3 4" },
    { 1, 2, 2, { 1, 1, 1 }, 3, "0 1 2" },
    { 2, 2, 1, { 2, 2 }, 2, "0,1 2,3" },
    { 2, 4, 2, { 0, 3 }, 2, " 0,1,2" },
};

START_TEST(devices_get_cores_of_their_own)
{
    const assign_case *c = &assign_cases[_i];
    mo_thread_cpus cpus;

    set_machine(c->packages, c->cores, c->siblings);
    cpus = read_first("absent", c->packages * c->cores * c->siblings);
    ck_assert_int_eq(mo_thread_cpus_cores(&cpus), c->packages * c->cores);
    ck_assert_int_eq(mo_thread_cpus_usable(&cpus), cpus.n);
    check_assigned(&cpus, c->threads, c->n, c->expected);
    mo_thread_cpus_clear(&cpus);
}
END_TEST

START_TEST(only_allowed_processors_are_assigned)
{
    const int allowed[] = { 1, 3, 5, 7 }; /* of cores 1 and 3 */
    const int two[] = { 1, 1 }, four[] = { 2, 2 }, five[] = { 5 };
    mo_thread_cpus cpus = { 0 };

    set_machine(1, 4, 2);
    MUST(mo_thread_cpus_read_at("absent", allowed, 4, &cpus, &err));
    ck_assert_int_eq(mo_thread_cpus_cores(&cpus), 2);
    check_assigned(&cpus, two, 2, "1 3");
    check_assigned(&cpus, four, 2, "1,5 3,7");
    check_assigned(&cpus, five, 1, "none");
    mo_thread_cpus_clear(&cpus);
}
END_TEST

START_TEST(taken_processors_and_their_siblings_come_last)
{
    const int two[] = { 1, 1 }, three[] = { 1, 2 }, six[] = { 6 },
              seven[] = { 7 };
    mo_thread_cpus cpus;

    set_machine(1, 4, 2);
    cpus = read_first("absent", 8);
    cpus.cpus[0].taken = cpus.cpus[5].taken = true;
    check_assigned(&cpus, two, 2, "2 3");
    check_assigned(&cpus, three, 2, "2 3,7");
    check_assigned(&cpus, six, 1, "1,2,3,4,6,7");
    check_assigned(&cpus, seven, 1, "none");
    mo_thread_cpus_clear(&cpus);
}
END_TEST

/* Processors 2 and 3 are of the faster kind. */
static void export_hybrid(const char *path)
{
    hwloc_topology_t topology;
    char text[1024];

    describe_machine(text, 1, 4, 1);
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, text), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    for (int kind = 0; kind < 2; kind++) {
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

        hwloc_bitmap_set_range(cpus, (unsigned) kind * 2, kind * 2 + 1);
        ck_assert_int_eq(
            hwloc_cpukinds_register(topology, cpus, kind, 0, NULL, 0), 0);
        hwloc_bitmap_free(cpus);
    }
    ck_assert_int_eq(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
}

START_TEST(fast_cores_come_first)
{
    const int two[] = { 2 };
    mo_thread_cpus cpus;

    export_hybrid("hybrid.xml");
    unsetenv("HWLOC_SYNTHETIC");
    setenv("HWLOC_XMLFILE", "hybrid.xml", 1);
    cpus = read_first("absent", 4);
    ck_assert_int_eq(cpus.cpus[0].capacity, 512);
    ck_assert_int_eq(cpus.cpus[3].capacity, 1024);
    unsetenv("HWLOC_XMLFILE");
    check_assigned(&cpus, two, 1, "2,3");
    mo_thread_cpus_clear(&cpus);
}
END_TEST
#endif

typedef struct quota_case {
    const char *cgroup, *file, *text, *other, *other_text;
    int usable; /* of 8 */
} quota_case;

static const quota_case quota_cases[] = {
    { "0::/user/job\n", "user/cpu.max", "max 100000\n", "user/job/cpu.max",
      "250000 100000\n", 2 },
    { "0::/user/job\n", "user/cpu.max", "300000 100000\n", "user/job/cpu.max",
      "max 100000\n", 3 },
    /* a path of the host, seen from a container */
    { "0::/docker/5e1\n", "cpu.max", "50000 100000\n", NULL, NULL, 1 },
    { "4:cpuset:/\n3:cpu,cpuacct:/a\n", "cpu/a/cpu.cfs_quota_us", "400000\n",
      "cpu/a/cpu.cfs_period_us", "100000\n", 4 },
    { "3:cpu,cpuacct:/a\n", "cpu/a/cpu.cfs_quota_us", "-1\n",
      "cpu/a/cpu.cfs_period_us", "100000\n", 8 },
    { "0::/\n", "cpu.max", "max 100000\n", NULL, NULL, 8 },
    { "nonsense\n", "cpu.max", "100000 100000\n", NULL, NULL, 8 },
    { "0::/\n", "cpu.max", "1000 0\n", NULL, NULL, 8 },
};

static void write_group(const char *root, const char *file, const char *text)
{
    char path[512], *end;

    snprintf(path, sizeof path, "%s/sys/fs/cgroup/%s", root, file);
    end = strrchr(path, '/');
    *end = '\0';
    make_folder(path);
    *end = '/';
    scratch_write(path, text);
}

START_TEST(quotas_of_control_groups_count)
{
    const quota_case *c = &quota_cases[_i];
    const int three[] = { 2, 1 };
    char root[32], path[128];
    mo_thread_cpus cpus;

    snprintf(root, sizeof root, "quota%d", _i);
    snprintf(path, sizeof path, "%s/proc/self", root);
    make_folder(path);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    scratch_write(path, c->cgroup);
    write_group(root, c->file, c->text);
    if (c->other)
        write_group(root, c->other, c->other_text);
    setenv("HWLOC_SYNTHETIC", "pu:8", 1);
    cpus = read_first(root, 8);
    ck_assert_int_eq(mo_thread_cpus_usable(&cpus), c->usable);
    check_assigned(&cpus, three, 2, c->usable < 3 ? "none" : "0,1 2");
    mo_thread_cpus_clear(&cpus);
}
END_TEST

START_TEST(an_unknown_processor_is_a_core)
{
    const int three[] = { 1, 1, 1 };
    mo_thread_cpus cpus;

    setenv("HWLOC_SYNTHETIC", "pu:1", 1);
    cpus = read_first("absent", 3);

    ck_assert_int_eq(mo_thread_cpus_cores(&cpus), 3);
    check_assigned(&cpus, three, 3, "0 1 2");
    mo_thread_cpus_clear(&cpus);
}
END_TEST

/* Every thread has a processor, allowed and free, and none twice; and no two
 * devices share a core where there are enough for all threads. */
START_TEST(assignments_are_disjoint)
{
    mo_random random = { (uint64_t) _i };
    mo_thread_cpu list[MOST_CPUS];
    mo_thread_cpus cpus = { .n = 1 + mo_random_below(&random, MOST_CPUS),
                            .cpus = list };
    int threads[MOST_DEVICES], assigned[MOST_CPUS * MOST_DEVICES], sum = 0;
    int n = 1 + mo_random_below(&random, MOST_DEVICES), left = 0;
    bool used[MOST_CPUS] = { false };

    cpus.quota = cpus.n;
    for (int i = 0; i < cpus.n; i++) {
        list[i] = (mo_thread_cpu){ .number = i,
                                   .core = mo_random_below(&random, i + 1),
                                   .taken = mo_random_below(&random, 10) == 0 };
        list[i].core = list[list[i].core].core;
        if (mo_random_below(&random, 2))
            list[i].core = i;
        left += !list[i].taken;
    }
    for (int k = 0; k < n; k++)
        sum += threads[k] = mo_random_below(&random, 6);
    ck_assert_int_eq(mo_thread_cpus_assign(&cpus, threads, n, assigned),
                     sum <= left);
    for (int t = 0; t < sum && sum <= left; t++) {
        ck_assert(assigned[t] >= 0 && assigned[t] < cpus.n);
        ck_assert(!list[assigned[t]].taken && !used[assigned[t]]);
        used[assigned[t]] = true;
    }
}
END_TEST

START_TEST(a_pinned_thread_is_restored)
{
    mo_thread_mask before, pinned, after;

    mo_thread_mask_save(&before);
    if (before.n == 0)
        return;
    ck_assert(mo_thread_pin(&before.numbers[before.n - 1], 1));
    mo_thread_mask_save(&pinned);
    ck_assert_int_eq(pinned.n, 1);
    ck_assert_int_eq(pinned.numbers[0], before.numbers[before.n - 1]);
    mo_thread_mask_restore(&before);
    mo_thread_mask_save(&after);
    ck_assert_int_eq(after.n, before.n);
}
END_TEST

SUITE(affinity)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
#ifdef HAVE_HWLOC
    EACH(devices_get_cores_of_their_own, COUNT(assign_cases));
    TEST(only_allowed_processors_are_assigned);
    TEST(taken_processors_and_their_siblings_come_last);
    TEST(fast_cores_come_first);
#endif
    EACH(quotas_of_control_groups_count, COUNT(quota_cases));
    TEST(an_unknown_processor_is_a_core);
    SOME(assignments_are_disjoint, 300, 20);
    TEST(a_pinned_thread_is_restored);
}
