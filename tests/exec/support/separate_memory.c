/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/support/separate_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/random.h"
#include "tests/support/suite.h"

/* An address plus this offset is invalid. */
#define HIDDEN ((uintptr_t) 1 << 54)

int64_t separate_free_bytes = INT64_MAX;

typedef struct separate_unit separate_unit;

typedef struct work {
    separate_unit *unit;
    const mo_backend_program_call *call;
    mo_backend_program_call
        own; /* where there is no other copy: call is NULL */
} work;

/* An allocation of the unit, which accesses nothing else. */
typedef struct block {
    char *at;
    size_t bytes;
} block;

struct separate_unit {
    mo_backend_unit *cpu;
    pthread_t thread;
    mo_random random;
    work *queue;
    size_t n, room;
    block *blocks;
    size_t n_blocks, blocks_room;
};

/* mo_backend_kernel is the CPU's; additional data of this backend. */
typedef struct separate_kernel {
    mo_backend_kernel *cpu;
    size_t workspace;
    int n_in, n_out;
} separate_kernel;

static separate_unit *unit_of(mo_backend_unit *unit)
{
    separate_unit *u = (separate_unit *) unit;

    ck_assert(pthread_equal(u->thread, pthread_self()));
    return u;
}

static const separate_kernel *kernel_of(const mo_backend_kernel *kernel)
{
    return (const separate_kernel *) kernel;
}

static void *hide(void *memory)
{
    return memory ? (void *) ((uintptr_t) memory + HIDDEN) : NULL;
}

static void *find(const void *memory)
{
    return memory ? (void *) ((uintptr_t) memory - HIDDEN) : NULL;
}

static mo_status open_unit(const mo_backend_unit_options *options,
                           mo_backend_unit **unit, mo_error *err)
{
    separate_unit *u = calloc(1, sizeof *u);

    ck_assert_ptr_nonnull(u);
    u->thread = pthread_self();
    u->random.state = 7;
    *unit = (mo_backend_unit *) u;
    return mo_backend_cpu.open(options, &u->cpu, err);
}

static mo_status enter(mo_backend_unit *unit, mo_error *err)
{
    (void) err;
    ((separate_unit *) unit)->thread = pthread_self();
    return MO_OK;
}

static void close_unit(mo_backend_unit *unit)
{
    separate_unit *u = unit_of(unit);

    ck_assert_uint_eq(u->n_blocks, 0);
    mo_backend_cpu.close(u->cpu);
    free(u->blocks);
    free(u->queue);
    free(u);
}

static mo_status count(int *n, mo_error *err)
{
    (void) err;
    *n = 1;
    return MO_OK;
}

static const char *say(const mo_backend_unit *unit)
{
    (void) unit;
    return "apart";
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         size_t *workspace, mo_error *err)
{
    separate_kernel *k = calloc(1, sizeof *k);
    mo_status status;

    ck_assert_ptr_nonnull(k);
    k->n_in = call->n_in;
    k->n_out = call->n_out;
    status = mo_backend_cpu.prepare(unit_of(unit)->cpu, call, in, out, &k->cpu,
                                    &k->workspace, err);
    if (status != MO_OK) {
        free(k);
        return status;
    }
    /* Known after the settle phase. */
    *workspace = 0;
    *kernel = (mo_backend_kernel *) k;
    return MO_OK;
}

static mo_status settle(mo_backend_unit *unit,
                        mo_backend_kernel *const *kernels, int n,
                        size_t *workspaces, mo_error *err)
{
    (void) unit_of(unit);
    (void) err;
    for (int i = 0; i < n; i++)
        workspaces[i] = kernel_of(kernels[i])->workspace;
    return MO_OK;
}

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    separate_kernel *k = (separate_kernel *) kernel;

    mo_backend_cpu.free_kernel(unit_of(unit)->cpu, k->cpu);
    free(k);
}

static bool consumed(const mo_backend_kernel *kernel, int in)
{
    return mo_backend_cpu.consumed(kernel_of(kernel)->cpu, in);
}

static mo_status push(mo_backend_unit *unit, const work *w, mo_error *err)
{
    separate_unit *u = unit_of(unit);
    mo_status status = MO_ARRAY_GROW(u->queue, u->n, u->room, err);

    if (status == MO_OK)
        u->queue[u->n++] = *w;
    return status;
}

static void check_own(const separate_unit *u, const void *memory)
{
    const char *at = find(memory);
    bool own = !memory;

    for (size_t i = 0; i < u->n_blocks; i++)
        own |=
            at >= u->blocks[i].at && at <= u->blocks[i].at + u->blocks[i].bytes;
    ck_assert(own);
}

static mo_status do_call(separate_unit *u, const mo_backend_program_call *call,
                         mo_error *err)
{
    const separate_kernel *k = kernel_of(call->kernel);
    const void *in[64];
    void *out[64];

    ck_assert_int_le(k->n_in, 64);
    ck_assert_int_le(k->n_out, 64);
    for (int i = 0; i < k->n_in; i++) {
        check_own(u, call->in[i]);
        in[i] = find(call->in[i]);
    }
    for (int i = 0; i < k->n_out; i++) {
        check_own(u, call->out[i]);
        out[i] = find(call->out[i]);
    }
    check_own(u, call->workspace);
    return mo_backend_cpu.run(u->cpu, k->cpu, in, out, find(call->workspace),
                              err);
}

static void hold(int64_t ns)
{
    struct timespec time = { ns / 1000000000, ns % 1000000000 };

    while (ns > 0 && nanosleep(&time, &time) != 0)
        continue;
}

static mo_status do_transfer(const mo_backend_transfer *transfer, mo_error *err)
{
    if (!transfer->from_unit || !transfer->to_unit)
        return transfer->carrier->enqueue(transfer->carrier, transfer, NULL,
                                          err);
    check_own((separate_unit *) transfer->from_unit, transfer->data);
    check_own((separate_unit *) transfer->to_unit, transfer->target);
    if (transfer->bytes > 0)
        memcpy(find(transfer->target), find(transfer->data), transfer->bytes);
    hold(transfer->min_ns);
    return MO_OK;
}

static mo_status do_work(const work *w, mo_error *err)
{
    const mo_backend_program_call *call = w->call ? w->call : &w->own;

    return call->kernel ? do_call(w->unit, call, err)
                        : do_transfer(call->transfer, err);
}

static mo_status wait_for_all(mo_backend_unit *unit, mo_error *err)
{
    separate_unit *u = unit_of(unit);
    mo_status status = MO_OK;

    for (size_t i = 0; i < u->n && status == MO_OK; i++)
        status = do_work(&u->queue[i], err);
    u->n = 0;
    return status;
}

static mo_status run(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err)
{
    work w = { .unit = unit_of(unit),
               .own = { .kernel = kernel,
                        .in = in,
                        .out = out,
                        .workspace = workspace } };

    return push(unit, &w, err);
}

/* Earlier work on its units is completed first; unit is one of them. */
static mo_status transfer_now(mo_backend_unit *unit,
                              const mo_backend_transfer *transfer,
                              mo_error *err)
{
    mo_backend_unit *ends[] = { transfer->from_unit, transfer->to_unit };
    mo_status status = MO_OK;

    ck_assert(unit == ends[0] || unit == ends[1]);
    for (int i = 0; i < 2 && status == MO_OK; i++)
        if (ends[i]) {
            ((separate_unit *) ends[i])->thread = pthread_self();
            status = wait_for_all(ends[i], err);
        }
    return status == MO_OK ? do_transfer(transfer, err) : status;
}

/* Every poll completes one call. */
static mo_status is_done(mo_backend_unit *unit, bool *done, mo_error *err)
{
    *done = unit_of(unit)->n == 0;
    return *done ? MO_OK : wait_for_all(unit, err);
}

static void note_block(separate_unit *u, void *memory, size_t bytes)
{
    MUST(MO_ARRAY_GROW(u->blocks, u->n_blocks, u->blocks_room, &err));
    u->blocks[u->n_blocks++] = (block){ memory, bytes };
}

static mo_status alloc_memory(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    void *found = NULL;
    mo_status status =
        mo_backend_cpu.alloc(unit_of(unit)->cpu, bytes, &found, err);

    if (status != MO_OK)
        return status;
    /* A pattern that exposes reads before writes. */
    memset(found, 0xc7, bytes);
    note_block(unit_of(unit), found, bytes);
    *memory = hide(found);
    return MO_OK;
}

static void release_memory(mo_backend_unit *unit, void *memory)
{
    separate_unit *u = unit_of(unit);
    size_t i = 0;

    while (i < u->n_blocks && u->blocks[i].at != find(memory))
        i++;
    ck_assert_uint_lt(i, u->n_blocks);
    u->blocks[i] = u->blocks[--u->n_blocks];
    mo_backend_cpu.release(unit_of(unit)->cpu, find(memory));
}

static mo_status put(mo_backend_unit *unit, void *to, const void *from,
                     size_t bytes, mo_error *err)
{
    mo_status status = wait_for_all(unit, err);

    memcpy(find(to), from, bytes);
    return status;
}

static mo_status get(mo_backend_unit *unit, void *to, const void *from,
                     size_t bytes, mo_error *err)
{
    mo_status status = wait_for_all(unit, err);

    memcpy(to, find(from), bytes);
    return status;
}

static mo_status alloc_near(mo_backend_unit *unit, size_t bytes, void **memory,
                            mo_error *err)
{
    (void) unit_of(unit);
    *memory = malloc(bytes);
    return *memory ? MO_OK : mo_fail_memory(err);
}

static void release_near(mo_backend_unit *unit, void *memory)
{
    (void) unit_of(unit);
    free(memory);
}

static mo_status tell_memory(mo_backend_unit *unit, int64_t *free_bytes,
                             int64_t *total_bytes, mo_error *err)
{
    (void) unit_of(unit);
    (void) err;
    *free_bytes = separate_free_bytes;
    *total_bytes = INT64_MAX;
    return MO_OK;
}

static int64_t kept(const mo_backend_unit *unit)
{
    (void) unit;
    return 0;
}

typedef struct separate_program {
    const mo_backend_program_call *calls;
    int n;
    bool *begun;
} separate_program;

/* before: n by n; [i * n + k]: call k is complete when i begins. */
static void mark_before(const mo_backend_program_call *calls, int n, int i,
                        bool *before)
{
    bool *own = before + (size_t) i * (size_t) n;

    for (int k = 0; k < i; k++)
        own[k] = calls[k].stream == calls[i].stream &&
                 calls[k].unit == calls[i].unit;
    for (int k = 0; k < calls[i].n_deps; k++)
        own[calls[i].deps[k]] = true;
    for (int k = i - 1; k >= 0; k--)
        for (int m = 0; own[k] && m < k; m++)
            own[m] |= before[(size_t) k * (size_t) n + (size_t) m];
}

static bool share_port(const mo_backend_transfer *a,
                       const mo_backend_transfer *b)
{
    return a && b &&
           ((a->from_unit && a->from_unit == b->from_unit) ||
            (a->to_unit && a->to_unit == b->to_unit));
}

/* One transfer at a time each way. */
static void check_ports(const mo_backend_program_call *calls, int n)
{
    bool *before = calloc((size_t) n * (size_t) n, sizeof *before);

    ck_assert_ptr_nonnull(before);
    for (int i = 0; i < n; i++) {
        mark_before(calls, n, i, before);
        for (int k = 0; k < i; k++)
            if (share_port(calls[k].transfer, calls[i].transfer))
                ck_assert(before[(size_t) i * (size_t) n + (size_t) k]);
    }
    free(before);
}

static mo_status record(mo_backend_unit *unit,
                        const mo_backend_program_call *calls, int n,
                        mo_backend_program **program, mo_error *err)
{
    separate_program *p = calloc(1, sizeof *p);

    (void) unit_of(unit);
    (void) err;
    ck_assert_ptr_nonnull(p);
    check_ports(calls, n);
    for (int i = 0; i < n; i++)
        if (calls[i].unit)
            ((separate_unit *) calls[i].unit)->thread = pthread_self();
    *p = (separate_program){ calls, n, calloc((size_t) n, sizeof *p->begun) };
    ck_assert_ptr_nonnull(p->begun);
    *program = (mo_backend_program *) p;
    return MO_OK;
}

static void forget(mo_backend_unit *unit, mo_backend_program *program)
{
    separate_program *p = (separate_program *) program;

    (void) unit_of(unit);
    free(p->begun);
    free(p);
}

static bool may_begin(const separate_program *p, int i)
{
    if (p->begun[i])
        return false;
    for (int k = 0; k < i; k++)
        if (p->calls[k].stream == p->calls[i].stream &&
            p->calls[k].unit == p->calls[i].unit && !p->begun[k])
            return false;
    for (int k = 0; k < p->calls[i].n_deps; k++)
        if (!p->begun[p->calls[i].deps[k]])
            return false;
    return true;
}

static int any_call(const separate_program *p, mo_random *random)
{
    int found = -1, n = 0;

    for (int i = 0; i < p->n; i++)
        if (may_begin(p, i) && mo_random_below(random, ++n) == 0)
            found = i;
    ck_assert_int_ge(found, 0);
    return found;
}

static mo_status replay(mo_backend_unit *unit,
                        const mo_backend_program *program, mo_error *err)
{
    const separate_program *p = (const separate_program *) program;
    mo_status status = MO_OK;

    memset(p->begun, 0, (size_t) p->n * sizeof *p->begun);
    for (int done = 0; done < p->n && status == MO_OK; done++) {
        int i = any_call(p, &unit_of(unit)->random);
        mo_backend_unit *own = p->calls[i].unit ? p->calls[i].unit : unit;

        p->begun[i] = true;
        status =
            push(unit,
                 &(work){ .unit = (separate_unit *) own, .call = &p->calls[i] },
                 err);
    }
    return status;
}

static mo_status time_calls(mo_backend_unit *unit,
                            const mo_backend_program_call *calls, int n,
                            int64_t *ns, int64_t *whole_ns, mo_error *err)
{
    (void) calls;
    *whole_ns = 0;
    for (int i = 0; i < n; i++) {
        int64_t took = SEPARATE_FIRST_NS + (int64_t) SEPARATE_CALL_NS * i;

        *whole_ns += took;
        ns[i] = took + SEPARATE_TIMER_NS;
    }
    return wait_for_all(unit, err);
}

const mo_backend separate_backend = {
    .name = "apart",
    .help = "the CPU behind a wall",
    .separate_memory = true,
    .open = open_unit,
    .close = close_unit,
    .alloc = alloc_memory,
    .release = release_memory,
    .prepare = prepare,
    .free_kernel = drop,
    .run = run,
    .consumed = consumed,
    .finalize = settle,
    .upload = put,
    .download = get,
    .wait = wait_for_all,
    .alloc_pinned = alloc_near,
    .free_pinned = release_near,
    .record = record,
    .replay = replay,
    .free_program = forget,
    .transfer = transfer_now,
    .is_idle = is_done,
    .time_calls = time_calls,
    .memory_info = tell_memory,
    .packed_bytes = kept,
    .bind_thread = enter,
    .count_devices = count,
    .device_name = say,
};

static mo_status refuse_to_time(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n,
                                int64_t *ns, int64_t *whole_ns, mo_error *err)
{
    (void) unit, (void) calls, (void) n, (void) ns, (void) whole_ns;
    return mo_fail(err, MO_E_SUPPORT, "somebody times calls");
}

mo_backend separate_without_timer(void)
{
    mo_backend backend = separate_backend;

    backend.time_calls = refuse_to_time;
    return backend;
}
