/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/chain_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel_for.h"
#include "schedule/serial_makespan.h"
#include "solvers/search/decomp/equiv_class.h"
#include "solvers/search/decomp/boundary_path.h"

enum {
    MAX_WORK = 1 << 25, /* ops by devices to the third: seconds */
    A_JOB = 16          /* blocks */
};

/* Where a block is met. */
typedef struct place {
    int cls, segment;
} place;

/* While blocks are told apart. */
typedef struct writer {
    const mo_chain_blocks *blocks;
    place *places;
    size_t n, room;
    int *number; /* by op of the kind: in the block, from 1 on; else 0 */
} writer;

static const mo_chain_partition *chained_of(const writer *w, int thing)
{
    return &w->blocks->chained[w->places[thing].cls];
}

static const mo_bound_segment *segment_of(const writer *w, int thing)
{
    return &chained_of(w, thing)->chain->segments[w->places[thing].segment];
}

/* u, v and the ops between get their numbers, or lose them. */
static void set_numbers(const writer *w, const mo_bound_segment *s, bool set)
{
    if (s->u != MO_FREE)
        w->number[s->u] = set ? 1 : 0;
    for (int i = 0; i < s->n; i++)
        w->number[s->ops[i]] = set ? i + 2 : 0;
    if (s->v != MO_FREE)
        w->number[s->v] = set ? s->n + 2 : 0;
}

static mo_status write_times(const mo_allowed_devices *p, int op, bool is_end,
                             mo_decomp_key *to, mo_error *err)
{
    mo_status status = mo_decomp_key_append(to, p->x->group[op], err);

    if (status == MO_OK && !is_end)
        status = mo_decomp_key_append(
            to, mo_allowed_devices_resident_bytes(p, op), err);
    for (int k = 0; k < p->x->n_devices && status == MO_OK; k++) {
        int64_t ns = is_end ? 0 : mo_instance_p_ns(p->x, op, k);

        status = mo_decomp_key_append(
            to, mo_allowed_devices_has(p, op, k) ? ns : -1 - ns, err);
    }
    return status;
}

static mo_status write_flows(const writer *w, const mo_allowed_devices *p,
                             int op, mo_decomp_key *to, mo_error *err)
{
    const mo_instance *x = p->x;
    bool once = p->regime.tensors == MO_TENSORS_ONCE;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++) {
        int tensor = x->flows[q].tensor;

        if (w->number[x->flows[q].to] == 0)
            continue;
        status = mo_decomp_key_append(to, w->number[x->flows[q].to], err);
        if (status == MO_OK)
            status = mo_decomp_key_append(
                to, tensor - x->flows[x->out_start[op]].tensor, err);
        if (status == MO_OK)
            status = mo_decomp_key_append(
                to, once ? x->tensor_row[tensor] : x->flow_row[q], err);
    }
    return status == MO_OK ? mo_decomp_key_append(to, INT64_MIN, err) : status;
}

static mo_status write_block(void *context, int thing, mo_decomp_key *to,
                             mo_error *err)
{
    const writer *w = context;
    const mo_allowed_devices *p = &chained_of(w, thing)->places;
    const mo_bound_segment *s = segment_of(w, thing);
    mo_status status = mo_decomp_key_append(
        to, (s->u != MO_FREE) * 2 + (s->v != MO_FREE), err);

    set_numbers(w, s, true);
    if (s->u != MO_FREE && status == MO_OK)
        status = write_times(p, s->u, true, to, err);
    if (s->u != MO_FREE && status == MO_OK)
        status = write_flows(w, p, s->u, to, err);
    for (int i = 0; i < s->n && status == MO_OK; i++) {
        status = write_times(p, s->ops[i], false, to, err);
        if (status == MO_OK)
            status = write_flows(w, p, s->ops[i], to, err);
    }
    if (s->v != MO_FREE && status == MO_OK)
        status = write_times(p, s->v, true, to, err);
    set_numbers(w, s, false);
    return status;
}

static mo_status chain_class(const mo_decomp_classes *classes,
                             const mo_decomp_class *cls,
                             mo_chain_partition *chained, mo_error *err)
{
    size_t size;
    mo_status status;

    if (!cls->part)
        return MO_OK;
    chained->places =
        (mo_allowed_devices){ cls->part->x, classes->regime, NULL };
    if (!mo_size_mul((size_t) cls->n, (size_t) classes->x->n_devices, &size))
        return mo_fail_memory(err);
    chained->places.allowed = calloc(size, sizeof *chained->places.allowed);
    if (!chained->places.allowed)
        return mo_fail_memory(err);
    status = mo_allowed_devices_find(&chained->places, err);
    if (status == MO_OK)
        status = mo_bound_chain_find(&chained->places, &chained->chain, err);
    if (status != MO_OK)
        return status;
    chained->block = calloc((size_t) chained->chain->n, sizeof *chained->block);
    return chained->block ? MO_OK : mo_fail_memory(err);
}

static mo_status number_blocks(writer *w, mo_decomp_equiv *alike, int cls,
                               mo_error *err)
{
    mo_chain_partition *chained = &w->blocks->chained[cls];
    mo_status status = MO_OK;

    for (int s = 0; chained->chain && s < chained->chain->n && status == MO_OK;
         s++) {
        status = MO_ARRAY_GROW(w->places, w->n, w->room, err);
        if (status != MO_OK)
            return status;
        w->places[w->n++] = (place){ cls, s };
        status = mo_decomp_equiv_class_of(alike, (int) w->n - 1,
                                          &chained->block[s], err);
        /* Only the first of each is asked for again. */
        if (status == MO_OK && mo_decomp_equiv_representative(
                                   alike, chained->block[s]) != (int) w->n - 1)
            w->n--;
    }
    return status;
}

static int most_ops(const mo_decomp_classes *classes)
{
    int most = 0;

    for (int i = 0; i < classes->n; i++)
        most = classes->classes[i].n > most ? classes->classes[i].n : most;
    return most;
}

static mo_status reserve(mo_chain_blocks *b, const writer *w, mo_error *err)
{
    size_t n_devices = (size_t) b->classes->x->n_devices;
    size_t n_boundaries = n_devices * n_devices;

    b->n = (int) w->n;
    b->blocks = calloc((size_t) b->n + 1, sizeof *b->blocks);
    if (!b->blocks)
        return mo_fail_memory(err);
    for (int i = 0; i < b->n; i++) {
        mo_chain_block *block = &b->blocks[i];

        block->cls = w->places[i].cls;
        block->segment = segment_of(w, i);
        block->lower_ns = malloc(n_boundaries * sizeof *block->lower_ns);
        block->seen_ns = malloc(n_boundaries * sizeof *block->seen_ns);
        block->hints = calloc(n_boundaries, sizeof *block->hints);
        if (!block->lower_ns || !block->seen_ns || !block->hints)
            return mo_fail_memory(err);
        for (size_t boundary = 0; boundary < n_boundaries; boundary++)
            block->lower_ns[boundary] = block->seen_ns[boundary] = INT64_MAX;
    }
    return MO_OK;
}

static mo_status tell_apart(mo_chain_blocks *b, mo_error *err)
{
    writer w = { .blocks = b };
    mo_decomp_equiv *alike = NULL;
    mo_status status = mo_decomp_equiv_new(write_block, &w, &alike, err);

    w.number = calloc((size_t) most_ops(b->classes) + 1, sizeof *w.number);
    if (status == MO_OK && !w.number)
        status = mo_fail_memory(err);
    for (int i = 0; i < b->classes->n && status == MO_OK; i++)
        status = chain_class(b->classes, &b->classes->classes[i],
                             &b->chained[i], err);
    for (int i = 0; i < b->classes->n && status == MO_OK; i++)
        status = number_blocks(&w, alike, i, err);
    if (status == MO_OK)
        status = reserve(b, &w, err);
    mo_decomp_equiv_free(alike);
    free(w.number);
    free(w.places);
    return status;
}

static bool is_worth_it(const mo_chain_blocks *b)
{
    int64_t K = b->classes->x->n_devices, n = 0;

    for (int i = 0; i < b->n; i++)
        n += b->blocks[i].segment->n + 2;
    return K <= MO_DECOMP_MAX_STATES && n * K * K * K <= MAX_WORK;
}

/* Some blocks of one kind of pieces: what they share is made once. */
typedef struct job {
    int first, last;
    mo_status status;
    mo_error err;
} job;

typedef struct crew {
    mo_chain_blocks *blocks;
    const mo_stop *stop;
    job *jobs;
} crew;

static void work(void *context, int number, int thread)
{
    const crew *c = context;
    job *j = &c->jobs[number];
    mo_chain_blocks *b = c->blocks;
    const mo_chain_partition *chained = &b->chained[b->blocks[j->first].cls];
    mo_bound_segments *segments = NULL;
    int64_t most_ns = 0;

    (void) thread;
    j->status = mo_serial_makespan(chained->places.x, &chained->places.regime,
                                   &most_ns, &j->err);
    if (j->status == MO_OK)
        j->status = mo_bound_segments_new(&chained->places, &segments, &j->err);
    if (j->status == MO_OK)
        mo_bound_segments_set_stop(segments, c->stop);
    for (int i = j->first; i < j->last && j->status == MO_OK; i++)
        mo_bound_segments_table(segments, b->blocks[i].segment, most_ns,
                                b->blocks[i].lower_ns);
    mo_bound_segments_free(segments);
}

static mo_status run(crew *c, int threads, int n_jobs, mo_error *err)
{
    mo_parallel_for(threads, n_jobs, work, c);
    for (int i = 0; i < n_jobs; i++)
        if (c->jobs[i].status != MO_OK) {
            if (err)
                *err = c->jobs[i].err;
            return c->jobs[i].status;
        }
    return MO_OK;
}

static mo_status bound_all(mo_chain_blocks *b, int threads, const mo_stop *stop,
                           mo_error *err)
{
    crew c = { .blocks = b, .stop = stop };
    int n_jobs = 0;
    mo_status status;

    c.jobs = calloc((size_t) b->n + 1, sizeof *c.jobs);
    if (!c.jobs)
        return mo_fail_memory(err);
    for (int i = 0; i < b->n;) {
        job *j = &c.jobs[n_jobs++];

        for (j->first = i; i < b->n && i < j->first + A_JOB &&
                           b->blocks[i].cls == b->blocks[j->first].cls;
             i++)
            continue;
        j->last = i;
    }
    status = run(&c, threads, n_jobs, err);
    free(c.jobs);
    return status;
}

mo_status mo_chain_blocks_new(const mo_decomp_classes *classes, int threads,
                              const mo_stop *stop, mo_chain_blocks **blocks,
                              mo_error *err)
{
    mo_chain_blocks *b = calloc(1, sizeof *b);
    mo_status status = MO_OK;
    bool worth_it = false;

    *blocks = NULL;
    if (!b)
        return mo_fail_memory(err);
    b->classes = classes;
    b->chained = calloc((size_t) classes->n, sizeof *b->chained);
    status = b->chained ? tell_apart(b, err) : mo_fail_memory(err);
    if (status == MO_OK)
        worth_it = is_worth_it(b);
    if (worth_it)
        status = bound_all(b, threads, stop, err);
    if (status == MO_OK && worth_it)
        *blocks = b;
    else
        mo_chain_blocks_free(b);
    return status;
}

void mo_chain_blocks_set_hint(mo_chain_blocks *b, int block, int boundary,
                              mo_decomp_solution_hint hint)
{
    mo_decomp_solution_hint *kept = &b->blocks[block].hints[boundary];

    free(kept->device);
    free(kept->start_ns);
    *kept = hint;
}

static void clear(mo_chain_blocks *b, int block)
{
    int n_boundaries = b->classes->x->n_devices * b->classes->x->n_devices;

    for (int p = 0; p < n_boundaries && b->blocks[block].hints; p++)
        mo_chain_blocks_set_hint(b, block, p, (mo_decomp_solution_hint){ 0 });
    free(b->blocks[block].hints);
    free(b->blocks[block].lower_ns);
    free(b->blocks[block].seen_ns);
}

void mo_chain_blocks_free(mo_chain_blocks *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n && b->blocks; i++)
        clear(b, i);
    for (int i = 0; i < b->classes->n && b->chained; i++) {
        mo_bound_chain_free(b->chained[i].chain);
        free(b->chained[i].places.allowed);
        free(b->chained[i].block);
    }
    free(b->blocks);
    free(b->chained);
    free(b);
}
