/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cpu/unit/cpu_unit.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "exec/backend/backend.h"
#include "exec/thread/cpu_pause.h"
#include "exec/thread/run_delay.h"

/*
 * The state is one atomic word: the round number in the upper half, the jobs
 * not taken yet in the lower half. Taking a job is a compare-and-swap of the
 * whole word, so that a worker that slept through a round cannot take a job of
 * the next one by mistake. work, context and n_jobs are only read by workers
 * with a job, and only change when all jobs are done.
 */
/* Spin iterations: some 40 us until a worker sleeps, and 100 us until the
 * caller that waits for the last job yields. A PAUSE of x86 takes as long as
 * many iterations elsewhere. */
#if defined(__x86_64__) || defined(__i386__)
enum { SPINS = 600, JOIN_SPINS = 1500 };
#else
enum { SPINS = 8000, JOIN_SPINS = 20000 };
#endif

typedef struct pool_worker {
    mo_cpu_thread_pool *pool;
    int number;
    pthread_t thread;
    atomic_int scheduled; /* its scheduler statistics, or -1 */
} pool_worker;

struct mo_cpu_thread_pool {
    alignas(MO_CPU_CACHE_LINE) _Atomic uint64_t left;
    alignas(MO_CPU_CACHE_LINE) atomic_int done;
    alignas(MO_CPU_CACHE_LINE) atomic_int sleepers;
    mo_cpu_thread_pool_task_fn *work;
    void *context;
    int n_jobs;
    atomic_bool ends; /* stop with the next round, or already stopped */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int size, n_cpus;
    int *cpus;
    pthread_t caller; /* the last thread that was pinned */
    bool has_caller;
    pool_worker workers[];
};

static uint32_t round_of(uint64_t left)
{
    return (uint32_t) (left >> 32);
}

/* Takes jobs of a round until none is left. */
static void take_jobs(mo_cpu_thread_pool *pool, uint32_t round, int worker)
{
    uint64_t left = atomic_load(&pool->left);

    while (round_of(left) == round && (uint32_t) left > 0) {
        if (!atomic_compare_exchange_weak(&pool->left, &left, left - 1))
            continue;
        pool->work(pool->context, pool->n_jobs - (int) (uint32_t) left, worker);
        atomic_fetch_add(&pool->done, 1);
        left = atomic_load(&pool->left);
    }
}

/* Waits for the first round after the one seen. */
static uint32_t await_round(mo_cpu_thread_pool *pool, uint32_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t round = round_of(atomic_load(&pool->left));

        if (round != seen)
            return round;
        mo_thread_pause();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (round_of(atomic_load(&pool->left)) == seen)
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
    return round_of(atomic_load(&pool->left));
}

static void *worker_main(void *argument)
{
    pool_worker *self = argument;
    mo_cpu_thread_pool *pool = self->pool;
    uint32_t round = 0;

    atomic_store(&self->scheduled, mo_thread_run_delay_open());
    for (;;) {
        round = await_round(pool, round);
        if (atomic_load(&pool->ends))
            return NULL;
        take_jobs(pool, round, self->number);
    }
}

/* Dekker-style handshake: a worker increments the sleeper count before it
 * reads the round a last time, and the caller publishes the round before it
 * reads the count: at least one of them sees the other. */
static void begin_round(mo_cpu_thread_pool *pool, int n_jobs)
{
    uint64_t round = round_of(atomic_load(&pool->left)) + (uint64_t) 1;

    atomic_store(&pool->left, round << 32 | (uint32_t) n_jobs);
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void set_affinity(const mo_cpu_thread_pool *pool, int number,
                         pthread_t thread)
{
#ifdef __linux__
    bool own = pool->n_cpus >= pool->size;
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < pool->n_cpus; i++)
        if ((!own || i == number) && pool->cpus[i] < CPU_SETSIZE)
            CPU_SET(pool->cpus[i], &set);
    /* Failure only costs performance. */
    (void) pthread_setaffinity_np(thread, sizeof set, &set);
#else
    (void) pool, (void) number, (void) thread;
#endif
}

void mo_cpu_thread_pool_run(mo_cpu_thread_pool *pool, int n_jobs,
                            mo_cpu_thread_pool_task_fn *work, void *context)
{
    pthread_t self = pthread_self();

    if (pool->n_cpus > 0 &&
        !(pool->has_caller && pthread_equal(pool->caller, self))) {
        set_affinity(pool, 0, self);
        pool->caller = self;
        pool->has_caller = true;
    }
    if (pool->size == 1 || n_jobs <= 1) {
        for (int job = 0; job < n_jobs; job++)
            work(context, job, 0);
        return;
    }
    pool->work = work;
    pool->context = context;
    pool->n_jobs = n_jobs;
    atomic_store(&pool->done, 0);
    begin_round(pool, n_jobs);
    take_jobs(pool, round_of(atomic_load(&pool->left)), 0);
    for (int i = 0; atomic_load(&pool->done) < n_jobs; i++)
        if (i < JOIN_SPINS)
            mo_thread_pause();
        else
            sched_yield(); /* a worker may need this processor */
}

typedef struct ranges {
    mo_cpu_thread_pool_range_fn *work;
    void *context;
    int64_t count, size;
} ranges;

static void do_range(void *context, int job, int worker)
{
    const ranges *r = context;
    int64_t begin = r->size * job;
    int64_t rest = r->count - begin;

    r->work(r->context, begin, begin + (rest < r->size ? rest : r->size),
            worker);
}

void mo_cpu_thread_pool_parallel_for(mo_cpu_thread_pool *pool, int64_t count,
                                     int64_t size,
                                     mo_cpu_thread_pool_range_fn *work,
                                     void *context)
{
    enum { MOST_RANGES = 1 << 16 };
    ranges r = { .work = work, .context = context, .count = count };
    int64_t least = (count + MOST_RANGES - 1) / MOST_RANGES;

    if (count <= 0)
        return;
    size = size < least ? least : size;
    r.size = size < 1 ? 1 : size;
    mo_cpu_thread_pool_run(pool, (int) ((count + r.size - 1) / r.size),
                           do_range, &r);
}

int mo_cpu_thread_pool_size(const mo_cpu_thread_pool *pool)
{
    return pool->size;
}

int64_t mo_cpu_thread_pool_run_delay_ns(const mo_cpu_thread_pool *pool)
{
    int64_t sum = 0;

    for (int i = 1; i < pool->size; i++) {
        int64_t ns =
            mo_thread_run_delay_ns(atomic_load(&pool->workers[i].scheduled));

        sum += ns > 0 ? ns : 0;
    }
    return sum;
}

static void join_workers(mo_cpu_thread_pool *pool, int n)
{
    atomic_store(&pool->ends, true);
    begin_round(pool, 0);
    for (int i = 1; i < n; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        if (atomic_load(&pool->workers[i].scheduled) >= 0)
            close(atomic_load(&pool->workers[i].scheduled));
    }
}

static mo_status start_workers(mo_cpu_thread_pool *pool, mo_error *err)
{
    for (int i = 1; i < pool->size; i++) {
        pool_worker *m = &pool->workers[i];

        m->pool = pool;
        m->number = i;
        atomic_init(&m->scheduled, -1);
        if (pthread_create(&m->thread, NULL, worker_main, m) != 0) {
            join_workers(pool, i);
            return mo_fail(err, MO_E_MEMORY,
                           "cannot start %d threads; allow fewer", pool->size);
        }
        if (pool->n_cpus > 0)
            set_affinity(pool, i, m->thread);
    }
    return MO_OK;
}

static void free_parts(mo_cpu_thread_pool *pool)
{
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->cpus);
    free(pool);
}

static mo_cpu_thread_pool *alloc_pool(int size, const int *cpus, int n_cpus)
{
    size_t bytes =
        sizeof(mo_cpu_thread_pool) + (size_t) size * sizeof(pool_worker);
    mo_cpu_thread_pool *pool =
        aligned_alloc(MO_CPU_CACHE_LINE, mo_cpu_round_to_line(bytes));

    if (!pool)
        return NULL;
    *pool = (mo_cpu_thread_pool){ .size = size, .n_cpus = n_cpus };
    pool->cpus = malloc(((size_t) n_cpus + 1) * sizeof *cpus);
    if (!pool->cpus) {
        free(pool);
        return NULL;
    }
    for (int i = 0; i < n_cpus; i++)
        pool->cpus[i] = cpus[i];
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    return pool;
}

mo_status mo_cpu_thread_pool_new(int threads, const int *cpus, int n_cpus,
                                 mo_cpu_thread_pool **pool, mo_error *err)
{
    mo_cpu_thread_pool *c;
    mo_status status;
    int size;

    n_cpus = cpus ? n_cpus : 0;
    size = threads > 0  ? threads
           : n_cpus > 0 ? n_cpus
                        : mo_parallel_for_cores();
    if (size > MO_BACKEND_MAX_THREADS)
        size = MO_BACKEND_MAX_THREADS;
    c = alloc_pool(size, cpus, n_cpus);
    if (!c)
        return mo_fail_memory(err);
    status = start_workers(c, err);
    if (status != MO_OK) {
        free_parts(c);
        return status;
    }
    *pool = c;
    return MO_OK;
}

void mo_cpu_thread_pool_free(mo_cpu_thread_pool *pool)
{
    if (!pool)
        return;
    join_workers(pool, pool->size);
    free_parts(pool);
}
