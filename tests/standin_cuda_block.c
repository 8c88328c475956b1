/*
 * Blocks of the stand-in, one after the other.  The threads of a block run in
 * turn, a warp at a time, each until it waits or ends; every other block in
 * reverse, since a kernel must not care.  The launch has failed when all that
 * are left wait for what will not come.
 */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/standin_cuda.h"
#include "tests/standin_cuda_calls.h"

typedef enum thread_state {
    READY,
    AT_BARRIER,
    IN_WARP, /* waits for others of its warp */
    DONE
} thread_state;

typedef struct thread {
    thread_state state;
    standin_dim index;
    standin_fiber *fiber; /* NULL: not begun, or done */
    standin_exchange *exchange;
} thread;

enum { DYNAMIC_ALIGN = 1024 };

standin_place mo_cpu_now;

static thread threads[STANDIN_THREADS];
static int n_threads;
static thread *now;
static const standin_launch *launch;
static char *dynamic;

static const char *const state_names[] = { "can run", "waits for the block",
                                           "waits for its warp", "is done" };

static void thread_main(void)
{
    launch->call(launch->args);
    now->state = DONE;
    standin_fiber_leave(now->fiber);
}

/* Lets others run; here again when the state is READY. */
static void give_way(thread_state state)
{
    thread *self = now;

    self->state = state;
    standin_fiber_leave(self->fiber);
}

void mo_cpu_sync(void)
{
    give_way(AT_BARRIER);
}

void *mo_cpu_dynamic_shared(void)
{
    return dynamic;
}

unsigned mo_cpu_atomic_add(unsigned *at, unsigned x)
{
    unsigned before = *at;

    *at += x;
    return before;
}

/* Gathers those of now's warp that take part; false if one is not there. */
static bool have_met(standin_exchange *lanes[STANDIN_WARP])
{
    const standin_exchange *mine = now->exchange;
    int first = (int) (now - threads) / STANDIN_WARP * STANDIN_WARP;

    for (int i = 0; i < STANDIN_WARP; i++) {
        const thread *t = &threads[first + i];

        lanes[i] = NULL;
        if (!(mine->mask >> i & 1u))
            continue;
        if (first + i >= n_threads || t->state != IN_WARP ||
            t->exchange->act != mine->act || t->exchange->mask != mine->mask ||
            t->exchange->how != mine->how)
            return false;
        lanes[i] = t->exchange;
    }
    return true;
}

static void wake_warp(unsigned mask)
{
    int first = (int) (now - threads) / STANDIN_WARP * STANDIN_WARP;

    for (int i = 0; i < STANDIN_WARP; i++)
        if (mask >> i & 1u)
            threads[first + i].state = READY;
}

void standin_meet(standin_exchange *exchange)
{
    standin_exchange *lanes[STANDIN_WARP];

    now->exchange = exchange;
    now->state = IN_WARP;
    if (have_met(lanes)) {
        exchange->act(lanes);
        wake_warp(exchange->mask);
    } else
        standin_fiber_leave(now->fiber);
}

static bool resume(thread *t)
{
    if (!t->fiber)
        t->fiber = standin_fiber_new(thread_main);
    if (!t->fiber) {
        standin_tell("%s: there is no memory for stacks", launch->name);
        return false;
    }
    now = t;
    mo_cpu_now.thread = t->index;
    standin_fiber_enter(t->fiber);
    if (t->state == DONE) {
        standin_fiber_free(t->fiber);
        t->fiber = NULL;
    }
    return true;
}

/* Until no thread of the warp can go on. */
static bool run_warp(int warp, bool reverse)
{
    int first = warp * STANDIN_WARP, n = n_threads - first;
    bool moved = true;

    n = n < STANDIN_WARP ? n : STANDIN_WARP;
    while (moved) {
        moved = false;
        for (int i = 0; i < n; i++) {
            thread *t = &threads[first + (reverse ? n - 1 - i : i)];

            if (t->state != READY)
                continue;
            moved = true;
            if (!resume(t))
                return false;
        }
    }
    return true;
}

static int count(thread_state state)
{
    int n = 0;

    for (int i = 0; i < n_threads; i++)
        n += threads[i].state == state;
    return n;
}

static void tell_stuck(void)
{
    standin_dim b = mo_cpu_now.block;
    int told = 0;

    standin_tell("%s: block %u,%u,%u hangs: of %d threads %d wait for the "
                 "block, %d for their warps, %d are done",
                 launch->name, b.x, b.y, b.z, n_threads, count(AT_BARRIER),
                 count(IN_WARP), count(DONE));
    for (int i = 0; i < n_threads && told < 8; i++) {
        const thread *t = &threads[i];

        if (i > 0 && t->state == t[-1].state)
            continue;
        standin_tell("%s: thread %u,%u,%u %s", launch->name, t->index.x,
                     t->index.y, t->index.z, state_names[t->state]);
        told++;
    }
}

/* All that are left stand at the barrier: on with them.  False if not. */
static bool pass_barrier(void)
{
    if (count(AT_BARRIER) + count(DONE) < n_threads) {
        tell_stuck();
        return false;
    }
    for (int i = 0; i < n_threads; i++)
        if (threads[i].state == AT_BARRIER)
            threads[i].state = READY;
    return true;
}

static void begin_block(void)
{
    standin_dim d = launch->threads;

    n_threads = (int) (d.x * d.y * d.z);
    for (int i = 0; i < n_threads; i++) {
        unsigned at = (unsigned) i;

        threads[i] =
            (thread){ .state = READY,
                      .index = { at % d.x, at / d.x % d.y, at / d.x / d.y } };
    }
    if (launch->n_statics)
        memset(launch->statics, STANDIN_PATTERN, launch->n_statics);
    memset(dynamic, STANDIN_PATTERN, launch->dynamic);
}

static void abandon_threads(void)
{
    for (int i = 0; i < n_threads; i++)
        standin_fiber_free(threads[i].fiber);
}

static bool run_block(bool reverse)
{
    int warps, done = 0;

    begin_block();
    warps = (n_threads + STANDIN_WARP - 1) / STANDIN_WARP;
    while (done < n_threads) {
        for (int w = 0; w < warps; w++)
            if (!run_warp(reverse ? warps - 1 - w : w, reverse)) {
                abandon_threads();
                return false;
            }
        done = count(DONE);
        if (done < n_threads && !pass_barrier()) {
            abandon_threads();
            return false;
        }
    }
    return true;
}

/* Is what follows the dynamic memory up to its alignment as it was? */
static bool is_dynamic_sound(void)
{
    size_t end =
        (launch->dynamic + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN;

    for (size_t i = launch->dynamic; i < end; i++)
        if (dynamic[i] != 0) {
            standin_tell("%s: a block wrote past its %zu bytes of dynamic "
                         "shared memory",
                         launch->name, launch->dynamic);
            return false;
        }
    return true;
}

static bool run_grid(void)
{
    standin_dim d = launch->blocks;
    uint64_t n = (uint64_t) d.x * d.y * d.z;

    mo_cpu_now.threads = launch->threads;
    mo_cpu_now.blocks = d;
    for (uint64_t i = 0; i < n; i++) {
        mo_cpu_now.block =
            (standin_dim){ (unsigned) (i % d.x), (unsigned) (i / d.x % d.y),
                           (unsigned) (i / d.x / d.y) };
        if (!run_block(i % 2) || !is_dynamic_sound())
            return false;
    }
    return true;
}

/* Names the thread that touched what it must not, then lets it crash. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    standin_dim t = mo_cpu_now.thread, b = mo_cpu_now.block;
    char text[512];
    int n = snprintf(text, sizeof text,
                     "stand-in: %s: thread %u,%u,%u of block %u,%u,%u faults "
                     "at %p\n",
                     launch->name, t.x, t.y, t.z, b.x, b.y, b.z, info->si_addr);

    (void) context;
    if (write(STDERR_FILENO, text, (size_t) n) < 0)
        _exit(1);
    signal(signal_number, SIG_DFL);
}

static bool run_guarded(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    enum { N_SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction mine = { .sa_flags = SA_SIGINFO }, before[N_SIGNALS];
    bool done;

    mine.sa_sigaction = on_fault;
    sigemptyset(&mine.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &mine, &before[i]);
    done = run_grid();
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    return done;
}

bool standin_run(const standin_launch *what)
{
    bool done = false;

    dynamic = standin_fenced_new(what->dynamic, DYNAMIC_ALIGN);
    launch = what;
    if (dynamic)
        done = run_guarded();
    else
        standin_tell("%s: there is no memory", what->name);
    standin_fenced_free(dynamic, what->dynamic, DYNAMIC_ALIGN);
    return done;
}
