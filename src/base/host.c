/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_SIZE = 256, BYTES_PER_KIB = 1024 };

/* Returns the number in a file; "max" and an absent file are INT64_MAX. */
static int64_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    int64_t number;

    if (!file)
        return INT64_MAX;
    if (fscanf(file, "%" SCNd64, &number) != 1 || number < 0)
        number = INT64_MAX;
    fclose(file);
    return number;
}

/* MemAvailable of Linux includes memory that can be reclaimed. */
static int64_t available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[LINE_SIZE];
    int64_t kib = -1;

    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    if (kib >= 0 && kib < INT64_MAX / BYTES_PER_KIB)
        return kib * BYTES_PER_KIB;
    return (int64_t) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* The used amount includes reclaimable file pages, so the result is
 * conservative. */
static int64_t remaining_bytes(const char *limit, const char *used)
{
    int64_t most = read_number(limit), now = read_number(used);

    if (most == INT64_MAX || now == INT64_MAX)
        return INT64_MAX;
    return most > now ? most - now : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t mo_host_available_memory_bytes(void)
{
    int64_t bytes = available_bytes();

    if (bytes <= 0)
        bytes = INT64_MAX;
    bytes = least(bytes, remaining_bytes("/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory.current"));
    return least(
        bytes, remaining_bytes("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                               "/sys/fs/cgroup/memory/memory.usage_in_bytes"));
}

int64_t mo_host_memory_limit_bytes(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    int64_t bytes = pages > 0 && size > 0 ? pages * size : INT64_MAX;

    bytes = least(bytes, read_number("/sys/fs/cgroup/memory.max"));
    return least(bytes,
                 read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
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
    fflush(NULL);
    _exit(code);
}
