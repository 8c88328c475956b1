/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_SIZE = 256, PATH_SIZE = 1024, BYTES_PER_KIB = 1024 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void visit_path(const char *root, const char *mount, const char *group,
                       mo_host_visit_cgroup *visit, void *context)
{
    char folder[PATH_SIZE];
    int top =
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, mount);
    char *slash;

    if (top >= PATH_SIZE)
        return;
    snprintf(folder + top, sizeof folder - (size_t) top, "%s", group);
    visit(context, folder);
    while ((slash = strrchr(folder + top, '/')) != NULL) {
        *slash = '\0';
        visit(context, folder);
    }
}

/* Lines of /proc/self/cgroup are "4:cpu,cpuacct:/docker/5e1", and "0::/user" in
 * version 2. */
void mo_host_walk_cgroups(const char *root, const char *controller,
                          mo_host_visit_cgroup *visit, void *context)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (!names[1])
            visit_path(root, "", group, visit, context);
        for (char *rest = names + 1, *name;
             (name = strsep(&rest, ",")) != NULL;)
            if (strcmp(name, controller) == 0) {
                snprintf(path, sizeof path, "/%s", controller);
                visit_path(root, path, group, visit, context);
            }
    }
    if (file)
        (void) fclose(file);
}

static int64_t read_group_number(const char *folder, const char *name)
{
    char path[PATH_SIZE + 64];
    FILE *file;
    int64_t number;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "re");
    if (!file)
        return INT64_MAX;
    if (fscanf(file, "%" SCNd64, &number) != 1 || number < 0)
        number = INT64_MAX;
    (void) fclose(file);
    return number;
}

/* File pages of a group, which are reclaimed before it is out of memory. */
static int64_t file_bytes(const char *folder)
{
    char path[PATH_SIZE + 64], line[LINE_SIZE];
    int64_t sum = 0, bytes;
    FILE *file;

    snprintf(path, sizeof path, "%s/memory.stat", folder);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if ((sscanf(line, "inactive_file %" SCNd64, &bytes) == 1 ||
             sscanf(line, "active_file %" SCNd64, &bytes) == 1) &&
            bytes > 0 && bytes < INT64_MAX - sum)
            sum += bytes;
    if (file)
        (void) fclose(file);
    return sum;
}

/* "memory.max" is version 2, "memory.limit_in_bytes" version 1. */
static void read_group(void *context, const char *folder)
{
    mo_host_group_memory *memory = context;
    int64_t limit = read_group_number(folder, "memory.max");
    int64_t used = read_group_number(folder, "memory.current");

    if (limit == INT64_MAX) {
        limit = read_group_number(folder, "memory.limit_in_bytes");
        used = read_group_number(folder, "memory.usage_in_bytes");
    }
    memory->limit = least(memory->limit, limit);
    if (limit == INT64_MAX || used == INT64_MAX)
        return;
    used -= least(used, file_bytes(folder));
    memory->available =
        least(memory->available, limit > used ? limit - used : 0);
}

mo_host_group_memory mo_host_group_memory_read(const char *root)
{
    mo_host_group_memory memory = { INT64_MAX, INT64_MAX };

    mo_host_walk_cgroups(root, "memory", read_group, &memory);
    return memory;
}

int64_t mo_host_available_memory_bytes(void)
{
    int64_t bytes;
    FILE *file = fopen("/proc/meminfo", "re");
    char line[LINE_SIZE];
    int64_t kib = -1;

    /* MemAvailable of Linux includes memory that can be reclaimed. */
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1)
            kib = -1;
    if (file)
        (void) fclose(file);
    if (kib >= 0 && kib < INT64_MAX / BYTES_PER_KIB)
        bytes = kib * BYTES_PER_KIB;
    else
        bytes = (int64_t) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (bytes <= 0)
        bytes = INT64_MAX;
    return least(bytes, mo_host_group_memory_read("").available);
}

int64_t mo_host_memory_limit_bytes(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    int64_t bytes = pages > 0 && size > 0 ? pages * size : INT64_MAX;

    return least(bytes, mo_host_group_memory_read("").limit);
}

int mo_host_cpu_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 && n < 1 << 20 ? (int) n : 1;
}

int mo_host_local_processes(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_SIZE",
                                             "MPI_LOCALNRANKS",
                                             "PMI_LOCAL_SIZE",
                                             "LOCAL_WORLD_SIZE" };

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        long n = text ? strtol(text, NULL, 10) : 0;

        if (n > 0 && n < 1 << 20)
            return (int) n;
    }
    return 1;
}

bool mo_host_cpu_is_allowed(int processor)
{
#ifdef __linux__
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return true;
    return processor < CPU_SETSIZE && CPU_ISSET(processor, &set);
#else
    return processor < mo_host_cpu_count();
#endif
}

static bool is_limited(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void mo_host_exit(int code)
{
    if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA))
        return;
    (void) fflush(NULL);
    _exit(code);
}
