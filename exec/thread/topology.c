/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

enum { FULL_CAPACITY = 1024 };

#ifdef HAVE_HWLOC
/* Loads sockets, cores and processors; NULL where that fails. The caller
 * destroys it. Without /sys, as in a bare chroot, hwloc would find nothing and
 * print a warning. */
static hwloc_topology_t load_topology(void)
{
    hwloc_topology_t topology;

#ifdef __linux__
    if (access("/sys/devices/system/cpu/cpu0/topology", R_OK) != 0)
        return NULL;
#endif
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE,
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE,
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

static void locate(hwloc_topology_t topology, mo_thread_cpu *cpu)
{
    hwloc_obj_t unit =
        hwloc_get_pu_obj_by_os_index(topology, (unsigned) cpu->number);
    int n_kinds = hwloc_cpukinds_get_nr(topology, 0), kind, efficiency = -1;
    hwloc_obj_t core, package;

    if (!unit)
        return;
    core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, unit);
    if (core)
        cpu->core = hwloc_bitmap_first(core->complete_cpuset);
    if (package && package->os_index != HWLOC_UNKNOWN_INDEX)
        cpu->package = (int) package->os_index;
    /* Kinds of cores are ranked by their efficiency, from 0, the slowest. */
    cpu->capacity = FULL_CAPACITY;
    kind = hwloc_cpukinds_get_by_cpuset(topology, unit->cpuset, 0);
    if (n_kinds > 0 && kind >= 0 &&
        hwloc_cpukinds_get_info(topology, (unsigned) kind, NULL, &efficiency,
                                NULL, NULL, 0) == 0 &&
        efficiency >= 0)
        cpu->capacity = FULL_CAPACITY * (efficiency + 1) / n_kinds;
}

static const char *find_info(hwloc_topology_t topology, const char *name)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *text =
        package ? hwloc_obj_get_info_by_name(package, name) : NULL;

    if (!text)
        text = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), name);
    return text ? text : "";
}

/* Kinds are in the order of efficiency: the last one is the fastest. */
static double find_max_mhz(hwloc_topology_t topology)
{
    int n = hwloc_cpukinds_get_nr(topology, 0);
    unsigned n_infos = 0;
    struct hwloc_info_s *infos = NULL;

    if (n <= 0 || hwloc_cpukinds_get_info(topology, (unsigned) n - 1, NULL,
                                          NULL, &n_infos, &infos, 0) != 0)
        return 0;
    for (unsigned i = 0; i < n_infos; i++)
        if (strcmp(infos[i].name, "FrequencyMaxMHz") == 0)
            return strtod(infos[i].value, NULL);
    return 0;
}
#endif

void mo_thread_topology_locate(mo_thread_cpu *cpus, int n)
{
    for (int i = 0; i < n; i++) {
        cpus[i].core = cpus[i].number;
        cpus[i].package = 0;
        cpus[i].capacity = FULL_CAPACITY;
    }
#ifdef HAVE_HWLOC
    {
        hwloc_topology_t topology = load_topology();

        for (int i = 0; topology && i < n; i++)
            locate(topology, &cpus[i]);
        if (topology)
            hwloc_topology_destroy(topology);
    }
#endif
}

void mo_thread_processor_read(mo_thread_processor *model)
{
    *model = (mo_thread_processor){ .family = 0 };
#ifdef HAVE_HWLOC
    {
        hwloc_topology_t topology = load_topology();

        if (!topology)
            return;
        snprintf(model->vendor, sizeof model->vendor, "%s",
                 find_info(topology, "CPUVendor"));
        snprintf(model->name, sizeof model->name, "%s",
                 find_info(topology, "CPUModel"));
        model->family = atoi(find_info(topology, "CPUFamilyNumber"));
        model->model = atoi(find_info(topology, "CPUModelNumber"));
        model->max_mhz = find_max_mhz(topology);
        hwloc_topology_destroy(topology);
    }
#endif
}
