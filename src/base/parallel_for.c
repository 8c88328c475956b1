/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/parallel_for.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

enum { MOST_THREADS = 256 };

typedef struct team {
    mo_parallel_for_fn *work;
    void *context;
    int n_jobs;
    atomic_int next;
} team;

typedef struct member {
    team *team;
    int number;
    pthread_t thread;
} member;

static void *take_part(void *argument)
{
    const member *m = argument;
    team *t = m->team;

    for (;;) {
        int job = atomic_fetch_add(&t->next, 1);
        if (job >= t->n_jobs)
            return NULL;
        t->work(t->context, job, m->number);
    }
}

int mo_parallel_for_cores(void)
{
    long n;
#ifdef __linux__
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
#endif
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int) n;
}

void mo_parallel_for(int threads, int n_jobs, mo_parallel_for_fn *work,
                     void *context)
{
    team t = { .work = work, .context = context, .n_jobs = n_jobs };
    member members[MOST_THREADS];
    int n = threads > 0 ? threads : mo_parallel_for_cores();
    int begun = 1;

    n = n > MOST_THREADS ? MOST_THREADS : n;
    n = n > n_jobs ? n_jobs : n;
    atomic_init(&t.next, 0);
    members[0] = (member){ .team = &t };
    for (; begun < n; begun++) {
        members[begun] = (member){ .team = &t, .number = begun };
        if (pthread_create(&members[begun].thread, NULL, take_part,
                           &members[begun]) != 0)
            break;
    }
    take_part(&members[0]);
    for (int i = 1; i < begun; i++)
        pthread_join(members[i].thread, NULL);
}
