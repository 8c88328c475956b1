/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "base/utf8.h"
#include "cost/cluster/cpu_list.h"
#include "cost/cluster/nccl/nccl_rate.h"
#include "exec/discover/discover_internal.h"
#include "base/host.h"

enum { LINE_SIZE = 512 };

/* The first line of a file; false where there is none. */
static bool read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "re");
    bool found = file && fgets(line, LINE_SIZE, file);

    if (file)
        fclose(file);
    if (found)
        line[strcspn(line, "\n")] = '\0';
    return found && *line;
}

/* Boots of a kernel have names of their own: containers of one machine differ
 * in their hosts' names, but not in this. */
static void name_host(mo_discover_inventory *survey)
{
    char line[LINE_SIZE];

    if (gethostname(line, sizeof line - 1) != 0)
        snprintf(line, sizeof line, "localhost");
    line[sizeof line - 1] = '\0';
    mo_utf8_escape_controls(survey->host, sizeof survey->host, line);
    if (!read_line("/proc/sys/kernel/random/boot_id", line))
        snprintf(line, sizeof line, "%s", survey->host);
    mo_utf8_escape_controls(survey->machine, sizeof survey->machine, line);
}

/* ----------------------------------------------------------------- what kind
 */

/* What /proc/cpuinfo says of the first processor. */
typedef struct cpuinfo {
    char vendor[LINE_SIZE], name[LINE_SIZE];
    int family, model;
} cpuinfo;

static void read_field(const char *line, cpuinfo *info)
{
    const char *colon = strchr(line, ':');
    const char *value = colon ? colon + 1 + strspn(colon + 1, " \t") : "";

    if (strncmp(line, "vendor_id", 9) == 0)
        snprintf(info->vendor, sizeof info->vendor, "%s", value);
    else if (strncmp(line, "model name", 10) == 0)
        snprintf(info->name, sizeof info->name, "%s", value);
    else if (strncmp(line, "cpu family", 10) == 0)
        info->family = atoi(value);
    else if (strncmp(line, "model", 5) == 0)
        info->model = atoi(value);
}

static void read_cpuinfo(cpuinfo *info)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[LINE_SIZE];

    while (file && fgets(line, sizeof line, file) && *line != '\n') {
        line[strcspn(line, "\n")] = '\0';
        read_field(line, info);
    }
    if (file)
        fclose(file);
}

/* The extended family stands in front of the basic one, as NCCL counts. */
static int joined_family(int family)
{
    return family > 15 ? (family - 15) << 4 | 15 : family;
}

static void name_processors(const cpuinfo *info, mo_discover_inventory *survey)
{
    struct utsname system;
    const char *name = info->name;

    if (!*name && uname(&system) == 0)
        name = system.machine;
    mo_utf8_escape_controls(survey->cpu, sizeof survey->cpu, name);
    survey->socket_gbps = mo_nccl_topology_socket_gbps(
        info->vendor, joined_family(info->family), info->model);
}

/* The most that it runs at, or what it is sold for, as in "CPU @ 2.20GHz"; what
 * it runs at right now would be another number every time. */
static double find_clock_mhz(const cpuinfo *info)
{
    char line[LINE_SIZE];
    const char *at = strchr(info->name, '@');
    double mhz = 0;

    if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
                  line))
        mhz = strtod(line, NULL) / 1000;
    else if (at)
        mhz = strtod(at + 1, NULL) * 1000;
    return mhz > 0 && mhz < 1e5 ? mhz : 0;
}

/* Two units of multiply-adds, as wide as vectors are. */
static double find_flops_per_cycle(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return 64;
    if (__builtin_cpu_supports("fma"))
        return 32;
    return 8;
#else
    return 16;
#endif
}

/* ------------------------------------------------------------------ how many
 */

/* The first of the processors that share a core with this one. */
static int first_sibling(int processor)
{
    char path[LINE_SIZE], line[LINE_SIZE];
    int first;

    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             processor);
    if (!read_line(path, line))
        return processor;
    first = atoi(line);
    return first >= 0 && first < MO_MAX_CPUS ? first : processor;
}

static void count_processors(mo_discover_inventory *survey)
{
    bool seen[MO_MAX_CPUS] = { false };
    int cores = 0, usable = mo_parallel_for_cores();

    for (int p = 0; p < MO_MAX_CPUS; p++) {
        bool *core;

        if (!mo_host_cpu_is_allowed(p))
            continue;
        core = &seen[first_sibling(p)];
        cores += !*core;
        *core = true;
    }
    survey->processors = usable;
    survey->is_bound = usable < mo_host_cpu_count();
    survey->cores = cores > 0 && cores < usable ? cores : usable;
}

void mo_discover_host_cpu(mo_discover_inventory *survey)
{
    cpuinfo info = { .family = 0 };

    name_host(survey);
    read_cpuinfo(&info);
    name_processors(&info, survey);
    count_processors(survey);
    survey->clock_mhz = find_clock_mhz(&info);
    survey->flops_per_cycle = find_flops_per_cycle();
    survey->memory_bytes = mo_host_memory_limit_bytes();
}
