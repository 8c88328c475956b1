/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/reserve.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE_NS = 40000000, NS_PER_S = 1000000000, LINE_SIZE = 512 };

/*
 * A claim is a datagram socket with a name in the abstract namespace of Linux:
 * binding a name that exists fails for every user, a connection succeeds if
 * and only if it exists, and no file is left over.
 */
#ifdef __linux__
static int open_claim(const char *space, int cpu, struct sockaddr_un *name,
                      socklen_t *size)
{
    int length;

    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "%s/processor/%d", space, cpu);
    *size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                         (size_t) length);
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}
#endif

static bool is_claimed(const char *space, int cpu)
{
#ifdef __linux__
    struct sockaddr_un name;
    socklen_t size;
    int claim = open_claim(space, cpu, &name, &size);
    bool found = claim >= 0 &&
                 connect(claim, (const struct sockaddr *) &name, size) == 0;

    if (claim >= 0)
        close(claim);
    return found;
#else
    (void) space, (void) cpu;
    return false;
#endif
}

bool mo_thread_claim(const char *space, int cpu, mo_thread_reservation *r)
{
#ifdef __linux__
    struct sockaddr_un name;
    socklen_t size;
    int claim = open_claim(space, cpu, &name, &size);
    int *more = realloc(r->claims, ((size_t) r->n_claims + 1) * sizeof *more);

    if (more)
        r->claims = more;
    if (claim >= 0 && more &&
        bind(claim, (const struct sockaddr *) &name, size) == 0) {
        r->claims[r->n_claims++] = claim;
        return true;
    }
    if (claim >= 0)
        close(claim);
#else
    (void) space, (void) cpu, (void) r;
#endif
    return false;
}

static void drop_claims(mo_thread_reservation *r, int keep)
{
    while (r->n_claims > keep)
        close(r->claims[--r->n_claims]);
}

void mo_thread_reservation_clear(mo_thread_reservation *r)
{
    drop_claims(r, 0);
    free(r->claims);
    free(r->cpus);
    *r = (mo_thread_reservation){ 0 };
}

void mo_thread_cpus_mark_claimed(const char *space, mo_thread_cpus *cpus)
{
    for (int i = 0; i < cpus->n; i++)
        cpus->cpus[i].taken |= is_claimed(space, cpus->cpus[i].number);
}

/* Idle time of each processor in clock ticks, by number; -1: unknown. */
static void read_idle(int64_t idle[MO_THREAD_MAX_CPUS])
{
    FILE *file = fopen("/proc/stat", "re");
    char line[LINE_SIZE];

    for (int i = 0; i < MO_THREAD_MAX_CPUS; i++)
        idle[i] = -1;
    while (file && fgets(line, sizeof line, file)) {
        long long ticks, waiting;
        int cpu;

        if (sscanf(line, "cpu%d %*d %*d %*d %lld %lld", &cpu, &ticks,
                   &waiting) == 3 &&
            cpu >= 0 && cpu < MO_THREAD_MAX_CPUS)
            idle[cpu] = ticks + waiting;
    }
    if (file)
        (void) fclose(file);
}

void mo_thread_cpus_mark_busy(mo_thread_cpus *cpus)
{
    int64_t before[MO_THREAD_MAX_CPUS], after[MO_THREAD_MAX_CPUS];
    const struct timespec sample = { 0, SAMPLE_NS };
    double ticks = (double) sysconf(_SC_CLK_TCK) * SAMPLE_NS / NS_PER_S;

    read_idle(before);
    nanosleep(&sample, NULL);
    read_idle(after);
    for (int i = 0; i < cpus->n; i++) {
        int cpu = cpus->cpus[i].number;
        bool known =
            cpu < MO_THREAD_MAX_CPUS && before[cpu] >= 0 && after[cpu] >= 0;

        cpus->cpus[i].taken |=
            known && (double) (after[cpu] - before[cpu]) < ticks / 2;
    }
}

/* Claims all assigned processors or none. One that another process has claimed
 * since is marked as taken in both lists. */
static bool claim_all(const char *space, mo_thread_cpus *cpus,
                      mo_thread_cpus *idle, int n, mo_thread_reservation *r)
{
    int kept = r->n_claims;

    for (int t = 0; t < n; t++) {
        if (mo_thread_claim(space, r->cpus[t], r))
            continue;
        for (int i = 0; i < cpus->n; i++)
            if (cpus->cpus[i].number == r->cpus[t])
                cpus->cpus[i].taken = idle->cpus[i].taken = true;
        drop_claims(r, kept);
        return false;
    }
    return true;
}

mo_status mo_thread_reserve(const char *space, mo_thread_cpus *cpus,
                            const int *threads, int n, mo_thread_reservation *r,
                            mo_error *err)
{
    mo_thread_cpus idle = *cpus;
    int sum = 0;
    bool done = false;

    for (int k = 0; k < n; k++)
        sum += threads[k];
    r->cpus = calloc((size_t) sum + 1, sizeof *r->cpus);
    idle.cpus = calloc((size_t) cpus->n + 1, sizeof *idle.cpus);
    if (!r->cpus || !idle.cpus) {
        free(idle.cpus);
        return mo_fail_memory(err);
    }
    mo_thread_cpus_mark_claimed(space, cpus);
    memcpy(idle.cpus, cpus->cpus, (size_t) cpus->n * sizeof *idle.cpus);
    if (sum < cpus->n)
        mo_thread_cpus_mark_busy(&idle);
    /* Every failed claim takes one processor out. */
    while (!done && (mo_thread_cpus_assign(&idle, threads, n, r->cpus) ||
                     mo_thread_cpus_assign(cpus, threads, n, r->cpus)))
        done = claim_all(space, cpus, &idle, sum, r);
    if (!done) {
        free(r->cpus);
        r->cpus = NULL;
    }
    free(idle.cpus);
    return MO_OK;
}
