/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/chain_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/parallel_for.h"
#include "schedule/serial_makespan.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/equiv_class.h"

/*
 * Blocks of all segment classes are classified by content, bounded once per
 * class in parallel, and combined along the chains by shortest paths.
 */

enum {
    MAX_WORK = 1 << 25, /* ops times devices cubed: seconds */
    BLOCKS_PER_JOB = 16
};

/* Where a block occurs. */
typedef struct occurrence {
    int cls, segment;
} occurrence;

/* Writes the keys by which blocks are classified. */
typedef struct key_writer {
    const mo_chain_blocks *blocks;
    occurrence *occurrences;
    size_t n, room;
    int *number; /* by op of the class: in the block, from 1 on; else 0 */
} key_writer;

static const mo_chain_partition *partition_of(const key_writer *w, int thing)
{
    return &w->blocks->partitions[w->occurrences[thing].cls];
}

static const mo_bound_segment *segment_of(const key_writer *w, int thing)
{
    return &partition_of(w, thing)
                ->chain->segments[w->occurrences[thing].segment];
}

/* Sets or clears the numbers of u, v and the ops between. */
static void number_block_ops(const key_writer *w, const mo_bound_segment *s,
                             bool set)
{
    if (s->u != MO_FREE)
        w->number[s->u] = set ? 1 : 0;
    for (int i = 0; i < s->n; i++)
        w->number[s->ops[i]] = set ? i + 2 : 0;
    if (s->v != MO_FREE)
        w->number[s->v] = set ? s->n + 2 : 0;
}

static mo_status append_times(const mo_allowed_devices *p, int op, bool is_end,
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

static mo_status append_flows(const key_writer *w, const mo_allowed_devices *p,
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

static mo_status append_block_key(void *context, int thing, mo_decomp_key *to,
                                  mo_error *err)
{
    const key_writer *w = context;
    const mo_allowed_devices *p = &partition_of(w, thing)->places;
    const mo_bound_segment *s = segment_of(w, thing);
    mo_status status = mo_decomp_key_append(
        to, (s->u != MO_FREE) * 2 + (s->v != MO_FREE), err);

    number_block_ops(w, s, true);
    if (s->u != MO_FREE && status == MO_OK)
        status = append_times(p, s->u, true, to, err);
    if (s->u != MO_FREE && status == MO_OK)
        status = append_flows(w, p, s->u, to, err);
    for (int i = 0; i < s->n && status == MO_OK; i++) {
        status = append_times(p, s->ops[i], false, to, err);
        if (status == MO_OK)
            status = append_flows(w, p, s->ops[i], to, err);
    }
    if (s->v != MO_FREE && status == MO_OK)
        status = append_times(p, s->v, true, to, err);
    number_block_ops(w, s, false);
    return status;
}

static mo_status partition_class(const mo_decomp_classes *classes,
                                 const mo_decomp_class *cls,
                                 mo_chain_partition *partition, mo_error *err)
{
    size_t size;
    mo_status status;

    if (!cls->part)
        return MO_OK;
    partition->places =
        (mo_allowed_devices){ cls->part->x, classes->regime, NULL };
    if (!mo_size_mul((size_t) cls->n, (size_t) classes->x->n_devices, &size))
        return mo_fail_memory(err);
    partition->places.allowed = calloc(size, sizeof *partition->places.allowed);
    if (!partition->places.allowed)
        return mo_fail_memory(err);
    status = mo_allowed_devices_find(&partition->places, err);
    if (status == MO_OK)
        status =
            mo_bound_chain_find(&partition->places, &partition->chain, err);
    if (status != MO_OK)
        return status;
    partition->block =
        calloc((size_t) partition->chain->n, sizeof *partition->block);
    return partition->block ? MO_OK : mo_fail_memory(err);
}

static mo_status classify_blocks(key_writer *w,
                                 mo_decomp_equiv *classes_of_blocks, int cls,
                                 mo_error *err)
{
    mo_chain_partition *partition = &w->blocks->partitions[cls];
    mo_status status = MO_OK;

    for (int s = 0;
         partition->chain && s < partition->chain->n && status == MO_OK; s++) {
        status = MO_ARRAY_GROW(w->occurrences, w->n, w->room, err);
        if (status != MO_OK)
            return status;
        w->occurrences[w->n++] = (occurrence){ cls, s };
        status = mo_decomp_equiv_class_of(classes_of_blocks, (int) w->n - 1,
                                          &partition->block[s], err);
        /* Only the first of each class is read again. */
        if (status == MO_OK &&
            mo_decomp_equiv_representative(
                classes_of_blocks, partition->block[s]) != (int) w->n - 1)
            w->n--;
    }
    return status;
}

static mo_status allocate_blocks(mo_chain_blocks *b, const key_writer *w,
                                 mo_error *err)
{
    size_t n_devices = (size_t) b->classes->x->n_devices;
    size_t n_boundaries = n_devices * n_devices;

    b->n = (int) w->n;
    b->blocks = calloc((size_t) b->n + 1, sizeof *b->blocks);
    if (!b->blocks)
        return mo_fail_memory(err);
    for (int i = 0; i < b->n; i++) {
        mo_chain_block *block = &b->blocks[i];

        block->cls = w->occurrences[i].cls;
        block->segment = segment_of(w, i);
        block->lower_ns = malloc(n_boundaries * sizeof *block->lower_ns);
        block->upper_ns = malloc(n_boundaries * sizeof *block->upper_ns);
        block->hints = calloc(n_boundaries, sizeof *block->hints);
        if (!block->lower_ns || !block->upper_ns || !block->hints)
            return mo_fail_memory(err);
        for (size_t boundary = 0; boundary < n_boundaries; boundary++)
            block->lower_ns[boundary] = block->upper_ns[boundary] = INT64_MAX;
    }
    return MO_OK;
}

static mo_status find_block_classes(mo_chain_blocks *b, mo_error *err)
{
    key_writer w = { .blocks = b };
    mo_decomp_equiv *classes_of_blocks = NULL;
    int max_ops = 0;
    mo_status status =
        mo_decomp_equiv_new(append_block_key, &w, &classes_of_blocks, err);

    for (int i = 0; i < b->classes->n; i++)
        max_ops = mo_max_int(max_ops, b->classes->classes[i].n);
    w.number = calloc((size_t) max_ops + 1, sizeof *w.number);
    if (status == MO_OK && !w.number)
        status = mo_fail_memory(err);
    for (int i = 0; i < b->classes->n && status == MO_OK; i++)
        status = partition_class(b->classes, &b->classes->classes[i],
                                 &b->partitions[i], err);
    for (int i = 0; i < b->classes->n && status == MO_OK; i++)
        status = classify_blocks(&w, classes_of_blocks, i, err);
    if (status == MO_OK)
        status = allocate_blocks(b, &w, err);
    mo_decomp_equiv_free(classes_of_blocks);
    free(w.number);
    free(w.occurrences);
    return status;
}

static bool is_affordable(const mo_chain_blocks *b)
{
    int64_t K = b->classes->x->n_devices, n = 0;

    for (int i = 0; i < b->n; i++)
        n += b->blocks[i].segment->n + 2;
    return K <= MO_DECOMP_MAX_STATES && n * K * K * K <= MAX_WORK;
}

/* Blocks of one segment class, which share its data. */
typedef struct bound_job {
    int first, last;
    mo_status status;
    mo_error err;
} bound_job;

typedef struct bound_jobs {
    mo_chain_blocks *blocks;
    const mo_stop *stop;
    bound_job *jobs;
} bound_jobs;

static void run_bound_job(void *context, int number, int thread)
{
    const bound_jobs *c = context;
    bound_job *j = &c->jobs[number];
    mo_chain_blocks *b = c->blocks;
    const mo_chain_partition *partition =
        &b->partitions[b->blocks[j->first].cls];
    mo_bound_segments *segments = NULL;
    int64_t most_ns = 0;

    (void) thread;
    j->status = mo_serial_makespan(
        partition->places.x, &partition->places.regime, &most_ns, &j->err);
    if (j->status == MO_OK)
        j->status =
            mo_bound_segments_new(&partition->places, &segments, &j->err);
    if (j->status == MO_OK)
        mo_bound_segments_set_stop(segments, c->stop);
    for (int i = j->first; i < j->last && j->status == MO_OK; i++)
        mo_bound_segments_table(segments, b->blocks[i].segment, most_ns,
                                b->blocks[i].lower_ns);
    mo_bound_segments_free(segments);
}

static mo_status bound_blocks(mo_chain_blocks *b, int threads,
                              const mo_stop *stop, mo_error *err)
{
    bound_jobs c = { .blocks = b, .stop = stop };
    int n_jobs = 0;
    mo_status status = MO_OK;

    c.jobs = calloc((size_t) b->n + 1, sizeof *c.jobs);
    if (!c.jobs)
        return mo_fail_memory(err);
    for (int i = 0; i < b->n;) {
        bound_job *j = &c.jobs[n_jobs++];

        for (j->first = i; i < b->n && i < j->first + BLOCKS_PER_JOB &&
                           b->blocks[i].cls == b->blocks[j->first].cls;
             i++)
            continue;
        j->last = i;
    }
    mo_parallel_for(threads, n_jobs, run_bound_job, &c);
    for (int i = 0; i < n_jobs && status == MO_OK; i++) {
        status = c.jobs[i].status;
        if (status != MO_OK && err)
            *err = c.jobs[i].err;
    }
    free(c.jobs);
    return status;
}

mo_status mo_chain_blocks_new(const mo_decomp_classes *classes, int threads,
                              const mo_stop *stop, mo_chain_blocks **blocks,
                              mo_error *err)
{
    mo_chain_blocks *b = calloc(1, sizeof *b);
    mo_status status = MO_OK;
    bool affordable = false;

    *blocks = NULL;
    if (!b)
        return mo_fail_memory(err);
    b->classes = classes;
    b->partitions = calloc((size_t) classes->n, sizeof *b->partitions);
    status = b->partitions ? find_block_classes(b, err) : mo_fail_memory(err);
    if (status == MO_OK)
        affordable = is_affordable(b);
    if (affordable)
        status = bound_blocks(b, threads, stop, err);
    if (status == MO_OK && affordable)
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

void mo_chain_blocks_free(mo_chain_blocks *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n && b->blocks; i++) {
        int n_boundaries = b->classes->x->n_devices * b->classes->x->n_devices;

        for (int p = 0; p < n_boundaries && b->blocks[i].hints; p++)
            mo_chain_blocks_set_hint(b, i, p, (mo_decomp_solution_hint){ 0 });
        free(b->blocks[i].hints);
        free(b->blocks[i].lower_ns);
        free(b->blocks[i].upper_ns);
    }
    for (int i = 0; i < b->classes->n && b->partitions; i++) {
        mo_bound_chain_free(b->partitions[i].chain);
        free(b->partitions[i].places.allowed);
        free(b->partitions[i].block);
    }
    free(b->blocks);
    free(b->partitions);
    free(b);
}
