/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/chain_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/parallel_for.h"
#include "schedule/bound/segment_classes.h"
#include "schedule/serial_makespan.h"
#include "solvers/search/decomp/boundary_path.h"

/*
 * Blocks of all segment classes are classified by content, bounded once per
 * class in parallel, and combined along the chains by shortest paths.
 */

enum {
    MAX_WORK = 1 << 25, /* ops times devices cubed: seconds */
    BLOCKS_PER_JOB = 16
};

/* Counted work of all blocks (mo_stop_spend), shared by their numbers of ops:
 * a block that takes longer keeps what is proven by then. */
#define BLOCKS_WORK INT64_C(2000000000)

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

/* Adds a block, by its first occurrence. */
static mo_status add_block(mo_chain_blocks *b, size_t *room, int cls,
                           const mo_bound_segment *segment, mo_error *err)
{
    size_t n_devices = (size_t) b->classes->x->n_devices;
    size_t n_boundaries = n_devices * n_devices, n = (size_t) b->n;
    mo_status status = MO_ARRAY_GROW(b->blocks, n, *room, err);
    mo_chain_block *block;

    if (status != MO_OK)
        return status;
    block = &b->blocks[b->n++];
    *block = (mo_chain_block){ .cls = cls, .segment = segment };
    block->lower_ns = malloc(n_boundaries * sizeof *block->lower_ns);
    block->upper_ns = malloc(n_boundaries * sizeof *block->upper_ns);
    block->hints = calloc(n_boundaries, sizeof *block->hints);
    block->reasons = calloc(n_boundaries, sizeof *block->reasons);
    if (!block->lower_ns || !block->upper_ns || !block->hints ||
        !block->reasons)
        return mo_fail_memory(err);
    for (size_t boundary = 0; boundary < n_boundaries; boundary++) {
        block->lower_ns[boundary] = block->upper_ns[boundary] = INT64_MAX;
        block->reasons[boundary] =
            (mo_proof_reason){ .known = true, .kind = MO_PROOF_TEST };
    }
    return MO_OK;
}

static mo_status find_blocks(mo_chain_blocks *b, mo_error *err)
{
    mo_segment_classifier *classifier = NULL;
    size_t room = 0;
    mo_status status =
        mo_segment_classifier_new(MO_SEGMENT_BOUNDS, &classifier, err);

    for (int i = 0; i < b->classes->n && status == MO_OK; i++) {
        mo_chain_partition *p = &b->partitions[i];

        status = partition_class(b->classes, &b->classes->classes[i], p, err);
        for (int s = 0; status == MO_OK && p->chain && s < p->chain->n; s++) {
            const mo_bound_segment *segment = &p->chain->segments[s];

            status = mo_segment_classifier_add(classifier, &p->places, segment,
                                               &p->block[s], err);
            if (status == MO_OK && p->block[s] == b->n)
                status = add_block(b, &room, i, segment, err);
        }
    }
    mo_segment_classifier_free(classifier);
    return status;
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
    int64_t n_ops; /* of all blocks and their ends */
} bound_jobs;

static void run_bound_job(void *context, int number, int thread)
{
    const bound_jobs *c = context;
    bound_job *j = &c->jobs[number];
    mo_chain_blocks *b = c->blocks;
    const mo_chain_partition *partition =
        &b->partitions[b->blocks[j->first].cls];
    mo_bound_segments *segments = NULL;
    int n_boundaries = b->classes->x->n_devices * b->classes->x->n_devices;
    int64_t most_ns = 0, n_ops = 0;
    _Atomic int64_t work = 0;
    mo_stop stop = { .deadline_ns = INT64_MAX,
                     .work = &work,
                     .outer = c->stop };

    (void) thread;
    for (int i = j->first; i < j->last; i++)
        n_ops += b->blocks[i].segment->n + 2;
    stop.max_work = BLOCKS_WORK / c->n_ops * n_ops;
    j->status = mo_serial_makespan(
        partition->places.x, &partition->places.regime, &most_ns, &j->err);
    if (j->status == MO_OK)
        j->status =
            mo_bound_segments_new(&partition->places, &segments, &j->err);
    if (j->status == MO_OK)
        mo_bound_segments_set_stop(segments, &stop);
    for (int i = j->first; i < j->last && j->status == MO_OK; i++) {
        mo_bound_segments_table(segments, b->blocks[i].segment, most_ns,
                                b->blocks[i].lower_ns);
        for (int p = 0; p < n_boundaries; p++)
            b->blocks[i].reasons[p].params[0] = most_ns;
    }
    mo_bound_segments_free(segments);
}

static mo_status bound_blocks(mo_chain_blocks *b, int threads,
                              const mo_stop *stop, mo_error *err)
{
    bound_jobs c = { .blocks = b, .stop = stop };
    int n_jobs = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < b->n; i++)
        c.n_ops += b->blocks[i].segment->n + 2;
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
    if (mo_ablated(MO_ABLATION_chain_blocks)) {
        free(b);
        return MO_OK;
    }
    if (!b)
        return mo_fail_memory(err);
    b->classes = classes;
    b->partitions = calloc((size_t) classes->n, sizeof *b->partitions);
    status = b->partitions ? find_blocks(b, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        int64_t K = b->classes->x->n_devices, n = 0;

        for (int i = 0; i < b->n; i++)
            n += b->blocks[i].segment->n + 2;
        affordable = K <= MO_DECOMP_MAX_STATES && n * K * K * K <= MAX_WORK;
    }
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
        free(b->blocks[i].reasons);
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
