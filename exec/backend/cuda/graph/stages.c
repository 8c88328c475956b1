/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/stages.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/graph/capture.h"

/* Streams of all stages on a GPU: the most that CUDA_DEVICE_MAX_CONNECTIONS
 * allows. Streams that share a hardware queue wait for each other. */
enum { MAX_STAGES = 32 };

/* What runs the stages of a request one by one: a unit, or the transfers of a
 * GPU. The first is the unit that records. */
typedef struct stage_owner {
    mo_backend_unit *unit;
    bool transfers; /* of the parts of a GPU */
    int n_streams;
} stage_owner;

typedef struct stage {
    int owner;
    int n_calls;
    int n_turns; /* streams that requests use by turns */
    mo_backend_program *graph;
    CUstream stream; /* the unit's; shared with other slots */
    CUevent done;    /* NULL: the last one */
    int *waits;      /* stages that it waits for */
    int n_waits;
    bool is_sink; /* none waits for it */
} stage;

struct mo_cuda_stages {
    const mo_cuda_api *api;
    stage_owner *owners;
    int n_owners;
    stage *stages;
    int n_stages;
    int *waits;      /* of all stages */
    CUevent started; /* before the first stage */
    bool by_host;    /* the host waits between stages, not the streams */
};

enum { NONE = -1 };

/* List scheduling of calls into stages. */
typedef struct partition {
    const mo_backend_program_call *calls;
    int n;
    int *owner_of;    /* by call: that of its stage */
    int *stage_of;    /* by call, or NONE */
    int *stream_prev; /* by call: the one before it on its recorded stream, or
                         NONE */
    int *ready_round; /* by call: the last round in which it was ready */
    int *n_unstaged;  /* by owner: calls without a stage */
    int n_rounds;     /* rounds of mark_ready_calls() */
} partition;

static mo_backend_unit *unit_of(const mo_backend_program_call *call,
                                mo_backend_unit *recorder)
{
    return call->unit ? call->unit : recorder;
}

/* Transfers of all parts of a GPU have one owner. */
static int find_or_add_owner(mo_cuda_stages *s, mo_backend_unit *unit,
                             bool transfers)
{
    int k = 0;

    while (k < s->n_owners &&
           (s->owners[k].transfers != transfers ||
            (transfers ? s->owners[k].unit->device != unit->device
                       : s->owners[k].unit != unit)))
        k++;
    if (k == s->n_owners)
        s->owners[s->n_owners++] = (stage_owner){ unit, transfers, 0 };
    return k;
}

/* own_transfers: transfers between parts of a GPU are stages of their own, else
 * of the sender's stage. */
static void assign_owners(mo_cuda_stages *s, partition *p,
                          mo_backend_unit *recorder, bool own_transfers)
{
    s->n_owners = 0;
    memset(p->n_unstaged, 0, 2 * (size_t) p->n * sizeof *p->n_unstaged);
    find_or_add_owner(s, recorder, false);
    for (int i = 0; i < p->n; i++) {
        const mo_backend_program_call *call = &p->calls[i];
        mo_backend_unit *unit = unit_of(call, recorder);
        bool transfers = own_transfers && call->transfer &&
                         mo_cuda_unit_is_partitioned(unit);

        p->owner_of[i] = find_or_add_owner(s, unit, transfers);
        p->n_unstaged[p->owner_of[i]]++;
        p->stage_of[i] = NONE;
        p->stream_prev[i] = i - 1;
        while (p->stream_prev[i] >= 0 &&
               (unit_of(&p->calls[p->stream_prev[i]], recorder) != unit ||
                p->calls[p->stream_prev[i]].stream != call->stream))
            p->stream_prev[i]--;
    }
}

/* Whether a call is of an earlier stage, or ready in the current round. */
static bool is_scheduled(const partition *p, int call)
{
    return call == NONE || p->stage_of[call] != NONE ||
           p->ready_round[call] == p->n_rounds;
}

/* Begins a round: marks the calls of owner k that could be the next stage, and
 * returns their number. */
static int mark_ready_calls(partition *p, int k)
{
    int n = 0;

    p->n_rounds++;
    for (int i = 0; i < p->n; i++) {
        bool ready = p->owner_of[i] == k && p->stage_of[i] == NONE &&
                     is_scheduled(p, p->stream_prev[i]);

        for (int d = 0; d < p->calls[i].n_deps && ready; d++)
            ready = is_scheduled(p, p->calls[i].deps[d]);
        if (ready)
            p->ready_round[i] = p->n_rounds;
        n += ready;
    }
    return n;
}

/* The next stage is of the owner that has the fewest calls without a stage
 * after it. */
static void partition_calls(mo_cuda_stages *s, partition *p)
{
    s->n_stages = 0;
    for (int n_done = 0; n_done < p->n; s->n_stages++) {
        int best = NONE, best_unstaged = 0, n;

        for (int k = 0; k < s->n_owners; k++) {
            n = mark_ready_calls(p, k);
            if (n > 0 &&
                (best == NONE || p->n_unstaged[k] - n < best_unstaged)) {
                best = k;
                best_unstaged = p->n_unstaged[k] - n;
            }
        }
        n_done += mark_ready_calls(p, best);
        p->n_unstaged[best] = best_unstaged;
        for (int i = 0; i < p->n; i++)
            if (p->ready_round[i] == p->n_rounds && p->stage_of[i] == NONE)
                p->stage_of[i] = s->n_stages;
    }
}

/* Stage i waits for those of its predecessors that precede no other one of
 * them. Stages are in a topological order. */
static void reduce_waits(mo_cuda_stages *s, const bool *precedes, bool *closure)
{
    size_t n = (size_t) s->n_stages;
    int *next = s->waits;

    for (size_t i = 0; i < n; i++) {
        stage *at = &s->stages[i];
        bool *before = closure + i * n;

        at->waits = next;
        for (size_t p = i; p-- > 0;) {
            if (!precedes[i * n + p] || before[p])
                continue;
            at->waits[at->n_waits++] = (int) p;
            before[p] = true;
            for (size_t q = 0; q < p; q++)
                before[q] |= closure[p * n + q];
        }
        next += at->n_waits;
    }
}

enum { MAX_TURNS = 8 };

/* How long a stage takes, roughly: longer on fewer SMs, but not in proportion.
 * Transfers count as calls on few. */
static double weight_of(const mo_cuda_stages *s, const stage *at)
{
    const stage_owner *owner = &s->owners[at->owner];

    return at->n_calls / sqrt(owner->transfers ? 2.0 : owner->unit->sms);
}

/* A stage is a server of the pipeline: with as many streams as requests that it
 * may serve at the same time. Each stage of a GPU has one, and the longest have
 * those that are left. */
static void assign_turns(mo_cuda_stages *s, CUdevice device)
{
    int n = 0;

    for (int i = 0; i < s->n_stages; i++)
        if (s->owners[s->stages[i].owner].unit->device == device)
            n += s->stages[i].n_turns;
    for (; n < MAX_STAGES; n++) {
        stage *best = NULL;

        for (int i = 0; i < s->n_stages; i++) {
            stage *at = &s->stages[i];

            if (s->owners[at->owner].unit->device == device &&
                at->n_turns < MAX_TURNS &&
                (!best || weight_of(s, at) / at->n_turns >
                              weight_of(s, best) / best->n_turns))
                best = at;
        }
        if (best)
            best->n_turns++;
    }
}

static mo_status make_stages(mo_cuda_stages *s, const partition *p,
                             mo_error *err)
{
    mo_status status = MO_OK;
    size_t n = (size_t) s->n_stages, n_waits = 0;
    bool *precedes;

    s->stages = calloc(n + 1, sizeof *s->stages);
    if (!s->stages)
        return mo_fail_memory(err);
    for (int i = 0; i < p->n; i++) {
        s->stages[p->stage_of[i]].owner = p->owner_of[i];
        s->stages[p->stage_of[i]].n_calls++;
    }
    for (int i = 0; i < s->n_stages; i++)
        s->stages[i].n_turns = 1;
    /* The stream of each stage for the slot that records. */
    for (int k = 0;
         k < s->n_owners && !mo_ablated(MO_ABLATION_cuda_stage_streams); k++)
        assign_turns(s, s->owners[k].unit->device);
    for (int i = 0; i < s->n_stages && status == MO_OK; i++) {
        stage *at = &s->stages[i];
        stage_owner *owner = &s->owners[at->owner];
        int index = owner->n_streams + owner->unit->slot % at->n_turns;
        status = mo_cuda_unit_make_current(owner->unit, err);

        owner->n_streams += at->n_turns;
        if (status == MO_OK)
            status = mo_cuda_unit_stage_stream(owner->unit, owner->transfers,
                                               index, &at->stream, err);
    }
    if (status != MO_OK)
        return status;
    precedes = calloc(2 * n * n + 1, sizeof *precedes);
    if (!precedes)
        return mo_fail_memory(err);
    /* Marks the stages that precede each one directly: precedes[i * n + j]. */
    for (int i = 0; i < p->n; i++) {
        bool *row = precedes + (size_t) p->stage_of[i] * n;

        if (p->stream_prev[i] != NONE)
            row[p->stage_of[p->stream_prev[i]]] = true;
        for (int d = 0; d < p->calls[i].n_deps; d++)
            row[p->stage_of[p->calls[i].deps[d]]] = true;
        row[p->stage_of[i]] = false;
    }
    for (size_t i = 0; i < n * n; i++)
        n_waits += precedes[i];
    s->waits = calloc(n_waits + 1, sizeof *s->waits);
    if (s->waits)
        reduce_waits(s, precedes, precedes + n * n);
    free(precedes);
    return s->waits ? MO_OK : mo_fail_memory(err);
}

static mo_status create_event(const mo_cuda_stages *s, mo_backend_unit *unit,
                              CUevent *event, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(unit, err);

    if (status == MO_OK)
        status = mo_cuda_check(
            s->api, "cuEventCreate",
            s->api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);
    return status;
}

/* Captures the calls of a stage; their dependencies on others are events. */
static mo_status capture_stage(mo_cuda_stages *s, const partition *p,
                               int number, mo_error *err)
{
    size_t room = 1, n_deps = 0;
    mo_backend_program_call *calls;
    int *deps, *number_of, n = 0;
    mo_status status;

    for (int i = 0; i < p->n; i++)
        n_deps += (size_t) p->calls[i].n_deps;
    room += (size_t) p->n;
    calls = calloc(room, sizeof *calls);
    number_of = calloc(room, sizeof *number_of);
    deps = calloc(n_deps + 1, sizeof *deps);
    status = calls && number_of && deps ? MO_OK : mo_fail_memory(err);
    n_deps = 0;
    for (int i = 0; i < p->n && status == MO_OK; i++) {
        mo_backend_program_call *call = &calls[n];

        if (p->stage_of[i] != number)
            continue;
        *call = p->calls[i];
        call->unit = unit_of(call, s->owners[0].unit);
        call->deps = deps + n_deps;
        call->n_deps = 0;
        for (int d = 0; d < p->calls[i].n_deps; d++)
            if (p->stage_of[p->calls[i].deps[d]] == number) {
                deps[n_deps++] = number_of[p->calls[i].deps[d]];
                call->n_deps++;
            }
        number_of[i] = n++;
    }
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(
            s->owners[s->stages[number].owner].unit, err);
    if (status == MO_OK)
        status = mo_cuda_graph_capture(s->owners[s->stages[number].owner].unit,
                                       calls, n, &s->stages[number].graph, err);
    free(calls);
    free(number_of);
    free(deps);
    return status;
}

static mo_status capture_all(mo_cuda_stages *s, mo_backend_unit *recorder,
                             const mo_backend_program_call *calls, int n,
                             mo_error *err)
{
    size_t room = (size_t) n + 1, owners = 2 * room;
    partition p = { .calls = calls, .n = n };
    mo_status status;

    p.owner_of = calloc(room, sizeof *p.owner_of);
    p.stage_of = calloc(room, sizeof *p.stage_of);
    p.stream_prev = calloc(room, sizeof *p.stream_prev);
    p.ready_round = calloc(room, sizeof *p.ready_round);
    p.n_unstaged = calloc(owners, sizeof *p.n_unstaged);
    s->owners = calloc(owners, sizeof *s->owners);
    status = p.owner_of && p.stage_of && p.stream_prev && p.ready_round &&
                     p.n_unstaged && s->owners
                 ? MO_OK
                 : mo_fail_memory(err);
    if (status == MO_OK) {
        assign_owners(s, &p, recorder, true);
        partition_calls(s, &p);
        s->by_host = s->n_stages > MAX_STAGES;
        if (s->by_host) {
            assign_owners(s, &p, recorder, false);
            partition_calls(s, &p);
        }
        status = make_stages(s, &p, err);
    }
    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = capture_stage(s, &p, i, err);
    if (status == MO_OK) {
        /* All stages but the last have an event: others, or the last, wait for
         * it. */
        status = create_event(s, s->owners[0].unit, &s->started, err);

        for (int i = 0; i < s->n_stages; i++)
            s->stages[i].is_sink = true;
        for (int i = 0; i < s->n_stages && status == MO_OK; i++) {
            stage *at = &s->stages[i];

            for (int w = 0; w < at->n_waits; w++)
                s->stages[at->waits[w]].is_sink = false;
            if (i + 1 < s->n_stages)
                status =
                    create_event(s, s->owners[at->owner].unit, &at->done, err);
        }
    }
    free(p.owner_of);
    free(p.stage_of);
    free(p.stream_prev);
    free(p.ready_round);
    free(p.n_unstaged);
    return status;
}

mo_status mo_cuda_stages_capture(mo_backend_unit *unit,
                                 const mo_backend_program_call *calls, int n,
                                 mo_backend_program **program, mo_error *err)
{
    mo_backend_program *made;
    bool whole = true; /* one graph */
    mo_status status;

    for (int i = 0; i < n; i++)
        whole = whole && unit_of(&calls[i], unit) == unit;
    whole = whole || mo_ablated(MO_ABLATION_cuda_stages);
    for (int i = 0; i < n; i++)
        whole = whole || (calls[i].transfer && calls[i].transfer->carrier);
    if (whole)
        return mo_cuda_graph_capture(unit, calls, n, program, err);
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->stages = calloc(1, sizeof *made->stages);
    if (made->stages) {
        made->stages->api = unit->api;
        status = capture_all(made->stages, unit, calls, n, err);
    } else {
        status = mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(unit, err);
    if (status == MO_OK)
        *program = made;
    else
        mo_cuda_graph_destroy(unit, made);
    return status;
}

void mo_cuda_stages_free(mo_cuda_stages *s)
{
    if (!s)
        return;
    for (int i = 0; s->stages && i < s->n_stages; i++) {
        stage *at = &s->stages[i];

        mo_cuda_graph_destroy(s->owners[at->owner].unit, at->graph);
        if (at->done)
            s->api->cuEventDestroy(at->done);
    }
    if (s->started)
        s->api->cuEventDestroy(s->started);
    free(s->stages);
    free(s->waits);
    free(s->owners);
    free(s);
}

static mo_status record_event(const mo_cuda_stages *s, CUevent event,
                              CUstream stream, mo_error *err)
{
    return mo_cuda_check(s->api, "cuEventRecord",
                         s->api->cuEventRecord(event, stream), err);
}

static mo_status enqueue_wait(const mo_cuda_stages *s, CUstream stream,
                              CUevent event, mo_error *err)
{
    return mo_cuda_check(s->api, "cuStreamWaitEvent",
                         s->api->cuStreamWaitEvent(stream, event, 0), err);
}

static mo_status wait_on_host(const mo_cuda_stages *s, CUevent event,
                              mo_error *err)
{
    CUresult result = s->api->cuEventQuery(event);

    while (result == CUDA_ERROR_NOT_READY) {
        sched_yield();
        result = s->api->cuEventQuery(event);
    }
    return mo_cuda_check(s->api, "cuEventQuery", result, err);
}

mo_backend_unit *mo_cuda_stages_first(const mo_cuda_stages *s, CUstream *stream)
{
    *stream = s->stages[0].stream;
    return s->owners[s->stages[0].owner].unit;
}

static mo_status launch_stage(const mo_cuda_stages *s, const stage *at,
                              CUstream begin, mo_error *err)
{
    mo_backend_unit *unit = s->owners[at->owner].unit;
    mo_status status = mo_cuda_unit_make_current(unit, err);

    if (status == MO_OK && at->n_waits == 0 && at->stream != begin)
        status = enqueue_wait(s, at->stream, s->started, err);
    for (int w = 0; w < at->n_waits && status == MO_OK; w++) {
        CUevent event = s->stages[at->waits[w]].done;

        status = s->by_host ? wait_on_host(s, event, err)
                            : enqueue_wait(s, at->stream, event, err);
    }
    if (status == MO_OK)
        status = mo_cuda_graph_launch_on(unit, at->graph, at->stream, err);
    if (status == MO_OK && at->done)
        status = record_event(s, at->done, at->stream, err);
    return status;
}

mo_status mo_cuda_stages_launch(const mo_cuda_stages *s, mo_backend_unit **unit,
                                CUstream *stream, mo_error *err)
{
    const stage *last = &s->stages[s->n_stages - 1];
    CUstream begin = *stream;
    mo_status status = record_event(s, s->started, begin, err);

    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = launch_stage(s, &s->stages[i], begin, err);
    for (int i = 0; i + 1 < s->n_stages && status == MO_OK; i++)
        if (s->stages[i].is_sink)
            status = enqueue_wait(s, last->stream, s->stages[i].done, err);
    *unit = s->owners[last->owner].unit;
    *stream = last->stream;
    return status;
}
