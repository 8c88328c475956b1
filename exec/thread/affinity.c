/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/affinity.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "exec/thread/topology.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 1024 };

/* Reads the first line of a file without its end; false where there is none. */
static bool read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "re");
    bool found = file && fgets(line, LINE_SIZE, file);

    if (file)
        (void) fclose(file);
    if (found)
        line[strcspn(line, "\n")] = '\0';
    return found && *line;
}

/* Processor time per time of one control group, version 2 ("max 100000", "50000
 * 100000") or 1 (two files); INFINITY: not limited. */
static double group_quota(const char *folder)
{
    char path[PATH_SIZE + 32], line[LINE_SIZE];
    double quota = 0, period = 0;

    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_line(path, line))
        return sscanf(line, "%lf %lf", &quota, &period) == 2 && quota > 0 &&
                       period > 0
                   ? quota / period
                   : INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (read_line(path, line))
        quota = strtod(line, NULL);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (read_line(path, line))
        period = strtod(line, NULL);
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static void lower_quota(void *context, const char *folder)
{
    double *least = context;

    *least = fmin(*least, group_quota(folder));
}

mo_status mo_thread_cpus_read_at(const char *root, const int *numbers, int n,
                                 mo_thread_cpus *cpus, mo_error *err)
{
    /* The least quota of the groups around this process. */
    double quota = INFINITY;

    mo_host_walk_cgroups(root, "cpu", lower_quota, &quota);

    cpus->cpus = calloc((size_t) n + 1, sizeof *cpus->cpus);
    if (!cpus->cpus)
        return mo_fail_memory(err);
    cpus->n = n;
    cpus->quota = quota < n ? quota : n;
    for (int i = 0; i < n; i++)
        cpus->cpus[i].number = numbers[i];
    mo_thread_topology_locate(cpus->cpus, n);
    return MO_OK;
}

void mo_thread_mask_save(mo_thread_mask *mask)
{
    mask->n = 0;
#ifdef __linux__
    {
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof set, &set) != 0)
            return;
        for (int i = 0; i < CPU_SETSIZE && mask->n < MO_THREAD_MAX_CPUS; i++)
            if (CPU_ISSET(i, &set))
                mask->numbers[mask->n++] = i;
    }
#endif
}

void mo_thread_mask_restore(const mo_thread_mask *mask)
{
    if (mask->n > 0)
        (void) mo_thread_pin(mask->numbers, mask->n);
}

mo_status mo_thread_cpus_read(mo_thread_cpus *cpus, mo_error *err)
{
    mo_thread_mask mask;

    mo_thread_mask_save(&mask);
    if (mask.n == 0) {
        int n = mo_host_cpu_count();

        mask.n = n < MO_THREAD_MAX_CPUS ? n : MO_THREAD_MAX_CPUS;
        for (int i = 0; i < mask.n; i++)
            mask.numbers[i] = i;
    }
    return mo_thread_cpus_read_at("", mask.numbers, mask.n, cpus, err);
}

void mo_thread_cpus_clear(mo_thread_cpus *cpus)
{
    free(cpus->cpus);
    *cpus = (mo_thread_cpus){ 0 };
}

bool mo_thread_pin(const int *numbers, int n)
{
#ifdef __linux__
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < n; i++)
        if (numbers[i] >= 0 && numbers[i] < CPU_SETSIZE)
            CPU_SET(numbers[i], &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
#else
    (void) numbers, (void) n;
    return false;
#endif
}

int mo_thread_cpus_usable(const mo_thread_cpus *cpus)
{
    /* A quota of 1.99 runs two threads nearly all the time. */
    double most = floor(cpus->quota + 0.1);

    return most < 1 ? 1 : most < cpus->n ? (int) most : cpus->n;
}

static int compare_cpus(const void *a, const void *b)
{
    const mo_thread_cpu *x = a, *y = b;

    if (x->capacity != y->capacity)
        return x->capacity > y->capacity ? -1 : 1;
    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

int mo_thread_cpus_cores(const mo_thread_cpus *cpus)
{
    int cores = 0;

    for (int i = 0; i < cpus->n; i++) {
        bool is_first = true;

        for (int k = 0; k < i && is_first; k++)
            is_first = cpus->cpus[k].core != cpus->cpus[i].core;
        cores += is_first;
    }
    return cores;
}

/* Free processors in the order of assignment, core by core. */
typedef struct core_list {
    mo_thread_cpu *cpus;
    int n_cpus;
    int *first; /* by core: its first processor; one more entry at the end */
    int n;
    int width; /* the fewest processors of a core */
} core_list;

/* With whole, cores of which no processor is taken; else all free processors.
 * The caller frees the arrays. */
static bool list_cores(const mo_thread_cpus *all, bool whole, core_list *list)
{
    *list = (core_list){
        .cpus = calloc((size_t) all->n + 1, sizeof *list->cpus),
        .first = calloc((size_t) all->n + 1, sizeof *list->first),
        .width = all->n,
    };
    if (!list->cpus || !list->first)
        return false;
    for (int i = 0; i < all->n; i++) {
        bool taken = all->cpus[i].taken;

        for (int j = 0; j < all->n && whole && !taken; j++)
            taken =
                all->cpus[j].taken && all->cpus[j].core == all->cpus[i].core;
        if (!taken)
            list->cpus[list->n_cpus++] = all->cpus[i];
    }
    qsort(list->cpus, (size_t) list->n_cpus, sizeof *list->cpus, compare_cpus);
    for (int i = 0; i < list->n_cpus; i++)
        if (i == 0 || list->cpus[i].core != list->cpus[i - 1].core)
            list->first[list->n++] = i;
    list->first[list->n] = list->n_cpus;
    for (int c = 0; c < list->n; c++)
        if (list->first[c + 1] - list->first[c] < list->width)
            list->width = list->first[c + 1] - list->first[c];
    return true;
}

/* Divides the cores among devices: one for each thread; while these are too
 * many, the device that has the most cores for its threads gives one up. False
 * where devices would have to share a core. */
static bool divide_cores(const core_list *list, const int *threads, int n,
                         int *cores)
{
    int sum = 0;

    for (int k = 0; k < n; k++)
        sum += cores[k] = threads[k];
    while (sum > list->n) {
        int most = -1;

        for (int k = 0; k < n; k++)
            if (threads[k] <= list->width * (cores[k] - 1) &&
                (most < 0 ||
                 cores[k] * threads[most] > cores[most] * threads[k]))
                most = k;
        if (most < 0)
            return false;
        cores[most]--;
        sum--;
    }
    return true;
}

/* Threads of a device on its n_cores cores: the first processors of all cores,
 * then the second ones. There are enough. */
static void assign_device(const core_list *list, int core, int n_cores,
                          int threads, int *assigned)
{
    int t = 0;

    for (int i = 0; t < threads; i++)
        for (int c = core; c < core + n_cores && t < threads; c++)
            if (list->first[c] + i < list->first[c + 1])
                assigned[t++] = list->cpus[list->first[c] + i].number;
}

/* Where devices have to share cores, their threads are one list. */
static bool assign_cores(const core_list *list, const int *threads, int n,
                         int *cores, int *assigned)
{
    int sum = 0, core = 0;

    for (int k = 0; k < n; k++)
        sum += threads[k];
    if (sum > list->n_cpus)
        return false;
    if (!divide_cores(list, threads, n, cores)) {
        assign_device(list, 0, list->n, sum, assigned);
        return true;
    }
    for (int k = 0; k < n; k++) {
        assign_device(list, core, cores[k], threads[k], assigned);
        assigned += threads[k];
        core += cores[k];
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return (x > y) - (x < y);
}

bool mo_thread_cpus_assign(const mo_thread_cpus *cpus, const int *threads,
                           int n, int *assigned)
{
    int sum = 0, *cores = calloc((size_t) n + 1, sizeof *cores);
    bool done = false;

    for (int k = 0; k < n; k++)
        sum += threads[k];
    for (int whole = 1; whole >= 0 && !done && cores; whole--) {
        core_list list;

        done = list_cores(cpus, whole, &list) &&
               sum <= mo_thread_cpus_usable(cpus) &&
               assign_cores(&list, threads, n, cores, assigned);
        free(list.cpus);
        free(list.first);
    }
    for (int k = 0; k < n && done; assigned += threads[k++])
        qsort(assigned, (size_t) threads[k], sizeof *assigned, compare_numbers);
    free(cores);
    return done;
}
