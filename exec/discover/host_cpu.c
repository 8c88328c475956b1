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

/* Reads the first line of a file; false where there is none. */
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

/* The boot id identifies the machine: containers of one machine have different
 * host names, but the same boot id. */
static void identify_host(mo_discover_inventory *inventory)
{
    char line[LINE_SIZE];

    if (gethostname(line, sizeof line - 1) != 0)
        snprintf(line, sizeof line, "localhost");
    line[sizeof line - 1] = '\0';
    mo_utf8_escape_controls(inventory->host, sizeof inventory->host, line);
    if (!read_line("/proc/sys/kernel/random/boot_id", line))
        snprintf(line, sizeof line, "%s", inventory->host);
    mo_utf8_escape_controls(inventory->machine, sizeof inventory->machine,
                            line);
}

/* The extended family stands in front of the basic one, as NCCL counts. */
static int combined_family(int family)
{
    return family > 15 ? (family - 15) << 4 | 15 : family;
}

static void identify_processors(const mo_thread_processor *info,
                                mo_discover_inventory *inventory)
{
    struct utsname system;
    const char *name = info->name;

    if (!*name && uname(&system) == 0)
        name = system.machine;
    mo_utf8_escape_controls(inventory->cpu, sizeof inventory->cpu, name);
    inventory->socket_gbps = mo_nccl_topology_socket_gbps(
        info->vendor, combined_family(info->family), info->model);
}

/* The maximum or the nominal frequency, as in "CPU @ 2.20GHz"; the current one
 * would differ every time. */
static double find_clock_mhz(const mo_thread_processor *info)
{
    const char *at = strchr(info->name, '@');
    double mhz = info->max_mhz;

    if (mhz == 0 && at)
        mhz = strtod(at + 1, NULL) * 1000;
    return mhz > 0 && mhz < 1e5 ? mhz : 0;
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

    identify_host(inventory);
    mo_thread_processor_read(&info);
    identify_processors(&info, inventory);
    inventory->clock_mhz = find_clock_mhz(&info);
    inventory->flops_per_cycle = find_flops_per_cycle();
    inventory->memory_bytes = mo_host_memory_limit_bytes();
    return count_processors(inventory, err);
}

enum { PATH_SIZE = 1024 };

static const double fastest_gbps = 1e5;

/* The number at the beginning of a file, or 0. */
static double read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[64] = "";
    double number;

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    (void) fclose(file);
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

/* "200 Gb/sec (4X HDR)" */
static void read_infiniband(mo_discover_inventory *inventory, const char *card)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/rate", card);
    keep_faster(inventory, card, read_number(path));
}

/* Physical cards only, in Mbit/s; -1 without a cable. */
static void read_ethernet(mo_discover_inventory *inventory, const char *card)
{
    char path[PATH_SIZE];
    struct stat is;

    snprintf(path, sizeof path, "/sys/class/net/%s/device", card);
    if (stat(path, &is) != 0)
        return;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", card);
    keep_faster(inventory, card, read_number(path) / 1000);
}

static void scan_cards(mo_discover_inventory *inventory, const char *folder,
                       void (*look)(mo_discover_inventory *inventory,
                                    const char *card))
{
    DIR *cards = opendir(folder);

    for (struct dirent *d; cards && (d = readdir(cards)) != NULL;)
        if (d->d_name[0] != '.')
            look(inventory, d->d_name);
    if (cards)
        closedir(cards);
}

void mo_discover_network(mo_discover_inventory *inventory)
{
    scan_cards(inventory, "/sys/class/infiniband", read_infiniband);
    scan_cards(inventory, "/sys/class/net", read_ethernet);
}
