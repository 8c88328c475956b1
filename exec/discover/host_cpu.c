/* SPDX-License-Identifier: Apache-2.0 */
/* Inventory of the host: processors, memory, and the fastest network card. */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/host.h"
#include "base/utf8.h"
#include "cost/cluster/nccl/nccl_rate.h"
#include "exec/discover/discover_internal.h"
#include "exec/thread/affinity.h"
#include "exec/thread/topology.h"

enum { LINE_SIZE = 512 };

/* Reads the first line of a file; "" where there is none. */
static void read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "re");

    if (!file || !fgets(line, LINE_SIZE, file))
        line[0] = '\0';
    if (file)
        (void) fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

/* Two fused multiply-add units of the vectors' width. */
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

static mo_status count_processors(mo_discover_inventory *inventory,
                                  mo_error *err)
{
    mo_thread_cpus cpus = { 0 };
    mo_status status = mo_thread_cpus_read(&cpus, err);
    int cores = mo_thread_cpus_cores(&cpus);

    inventory->processors = mo_thread_cpus_usable(&cpus);
    inventory->is_bound = cpus.n < mo_host_cpu_count();
    inventory->cores =
        cores < inventory->processors ? cores : inventory->processors;
    for (int i = 0; i < cpus.n && i < MO_DISCOVER_MAX_CPUS; i++) {
        inventory->cpus[i] = (int16_t) cpus.cpus[i].number;
        inventory->core_of[i] = (int16_t) cpus.cpus[i].core;
        inventory->package_of[i] = (int16_t) cpus.cpus[i].package;
        inventory->capacity_of[i] = (int16_t) cpus.cpus[i].capacity;
        inventory->n_cpus++;
    }
    mo_thread_cpus_clear(&cpus);
    return status;
}

mo_status mo_discover_host_cpu(mo_discover_inventory *inventory, mo_error *err)
{
    mo_thread_processor info;
    struct utsname system;
    char line[LINE_SIZE];
    const char *at;
    int family;

    if (gethostname(line, sizeof line - 1) != 0)
        snprintf(line, sizeof line, "localhost");
    line[sizeof line - 1] = '\0';
    mo_utf8_escape_controls(inventory->host, sizeof inventory->host, line);
    /* The boot id identifies the machine: containers of one machine have
     * different host names, but the same boot id. */
    read_line("/proc/sys/kernel/random/boot_id", line);
    mo_utf8_escape_controls(inventory->machine, sizeof inventory->machine,
                            *line ? line : inventory->host);
    mo_thread_processor_read(&info);
    mo_utf8_escape_controls(inventory->cpu, sizeof inventory->cpu,
                            !*info.name && uname(&system) == 0 ? system.machine
                                                               : info.name);
    /* The extended family stands in front of the basic one, as NCCL counts. */
    family = info.family > 15 ? (info.family - 15) << 4 | 15 : info.family;
    inventory->socket_gbps =
        mo_nccl_topology_socket_gbps(info.vendor, family, info.model);
    /* The maximum or the nominal frequency, as in "CPU @ 2.20GHz"; the current
     * one would differ every time. */
    at = strchr(info.name, '@');
    inventory->clock_mhz = info.max_mhz;
    if (info.max_mhz == 0 && at)
        inventory->clock_mhz = strtod(at + 1, NULL) * 1000;
    if (!(inventory->clock_mhz > 0 && inventory->clock_mhz < 1e5))
        inventory->clock_mhz = 0;
    inventory->flops_per_cycle = find_flops_per_cycle();
    inventory->memory_bytes = mo_host_memory_limit_bytes();
    return count_processors(inventory, err);
}

enum { PATH_SIZE = 1024 };

static const double fastest_gbps = 1e5;

/* The number at the beginning of a file, or 0. */
static double read_number(const char *path)
{
    char line[LINE_SIZE];
    double number;

    read_line(path, line);
    number = strtod(line, NULL);
    return number > 0 && number < 1e9 ? number : 0;
}

/* Ties: the first by name, since readdir() has no order. */
static void keep_faster(mo_discover_inventory *inventory, const char *name,
                        double gbps)
{
    char shown[MO_DISCOVER_TEXT_SIZE];

    mo_utf8_escape_controls(shown, sizeof shown, name);
    if (gbps <= 0 || gbps > fastest_gbps || gbps < inventory->network_gbps ||
        (gbps == inventory->network_gbps &&
         strcmp(shown, inventory->network) > 0))
        return;
    inventory->network_gbps = gbps;
    memcpy(inventory->network, shown, sizeof shown);
}

void mo_discover_network(mo_discover_inventory *inventory)
{
    DIR *cards = opendir("/sys/class/infiniband");
    char path[PATH_SIZE];
    struct stat is;

    /* "200 Gb/sec (4X HDR)" */
    for (struct dirent *d; cards && (d = readdir(cards)) != NULL;)
        if (d->d_name[0] != '.') {
            snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/rate",
                     d->d_name);
            keep_faster(inventory, d->d_name, read_number(path));
        }
    if (cards)
        closedir(cards);
    cards = opendir("/sys/class/net");
    /* Physical cards only, in Mbit/s; -1 without a cable. */
    for (struct dirent *d; cards && (d = readdir(cards)) != NULL;) {
        snprintf(path, sizeof path, "/sys/class/net/%s/device", d->d_name);
        if (d->d_name[0] == '.' || stat(path, &is) != 0)
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", d->d_name);
        keep_faster(inventory, d->d_name, read_number(path) / 1000);
    }
    if (cards)
        closedir(cards);
}
