/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_job.h"

#include <stdlib.h>
#include <string.h>

#include "cost/instance/sub_instance.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/bound/load/load_bound.h"
#include "solvers/search/exact/exact.h"

enum {
    EXACT_NODES = 10000,
    MAX_TARGETS = 3 /* targets per job, each half as far as the one before */
};

/* The fork-join at the boundary of a job. */
static mo_forkjoin_case case_of(const mo_chain_blocks *b,
                                const mo_search_bound_job *it)
{
    int n = b->classes->x->n_devices;

    return mo_forkjoin_at(it->fork, it->boundary / n, it->boundary % n);
}

static mo_status run_load_bound(const mo_chain_blocks *b,
                                mo_search_bound_job *it, mo_error *err)
{
    const mo_forkjoin_case at = case_of(b, it);

    it->reason = (mo_proof_reason){ .known = true, .kind = MO_PROOF_LOAD };
    return mo_load_bound(&at, &it->lower_ns, err);
}

static void clear_hint(mo_decomp_solution_hint *hint)
{
    free(hint->device);
    free(hint->start_ns);
    *hint = (mo_decomp_solution_hint){ 0 };
}

/* Sequence of targets that a job tries, one after the other. */
struct mo_search_bound_ladder {
    mo_cg_search
        *search; /* branch-and-price for the current target; NULL: not begun */
    int64_t target_ns;
    int64_t steps; /* of this search at most, so far */
    int n_failed;  /* targets that have failed */
    bool has_hint; /* a hint was found */
};

static mo_status begin_ladder(const mo_chain_blocks *b, mo_search_bound_job *it,
                              mo_error *err)
{
    size_t n = (size_t) b->blocks[it->block].segment->n;

    it->ladder = calloc(1, sizeof *it->ladder);
    it->hint.device = malloc(n * sizeof *it->hint.device);
    it->hint.start_ns = malloc(n * sizeof *it->hint.start_ns);
    if (!it->ladder || !it->hint.device || !it->hint.start_ns)
        return mo_fail_memory(err);
    it->ladder->target_ns = it->target_ns;
    return MO_OK;
}

static void end_ladder(mo_search_bound_job *it)
{
    if (it->ladder)
        mo_cg_search_free(it->ladder->search);
    free(it->ladder);
    it->ladder = NULL;
}

/* Continues the search that tries to prove that the block takes at least the
 * target; *done: it has ended. The hint is that of the least target that
 * failed. */
static mo_status continue_search(const mo_chain_blocks *b,
                                 mo_search_bound_job *it, const mo_stop *stop,
                                 bool *done, mo_error *err)
{
    int64_t known_ns = b->blocks[it->block].lower_ns[it->boundary];
    bool suggested = false, refuted = false;
    mo_cg_options options = { .stop = stop,
                              .device = it->hint.device,
                              .start_ns = it->hint.start_ns,
                              .suggested = &suggested };
    const mo_forkjoin_case at = case_of(b, it);
    mo_status status = MO_OK;

    /* A block that cannot end by target - 1 takes at least the target. */
    if (!it->ladder->search)
        status = mo_cg_search_new(&at, it->ladder->target_ns - 1, it->effort,
                                  &it->ladder->search, err);
    if (status == MO_OK)
        status = mo_cg_search_run(it->ladder->search, it->steps, &options, done,
                                  &refuted, err);
    if (status != MO_OK)
        return status;
    it->ladder->has_hint |= suggested;
    it->ladder->steps += it->steps;
    if (*done) {
        /* After a failure the next target is half as far: how much is provable
         * is not known beforehand. */
        mo_search_bound_ladder *c = it->ladder;

        mo_cg_search_free(c->search);
        c->search = NULL;
        c->n_failed = refuted ? MAX_TARGETS : c->n_failed + 1;
        if (refuted) {
            it->lower_ns = c->target_ns;
            it->reason =
                (mo_proof_reason){ .known = true,
                                   .kind = MO_PROOF_COLGEN,
                                   .params = { it->effort, c->steps } };
        } else {
            it->failed_ns = c->target_ns;
        }
        c->steps = 0;
        c->target_ns = known_ns + (c->target_ns - known_ns) / 2;
    }
    return MO_OK;
}

static bool is_ladder_done(const mo_chain_blocks *b,
                           const mo_search_bound_job *it)
{
    return it->ladder->n_failed >= MAX_TARGETS ||
           it->ladder->target_ns <= b->blocks[it->block].lower_ns[it->boundary];
}

/* Stopped or not, only finished targets leave results. */
static mo_status run_colgen(const mo_chain_blocks *b, mo_search_bound_job *it,
                            const mo_stop *stop, mo_error *err)
{
    mo_status status = it->ladder ? MO_OK : begin_ladder(b, it, err);
    bool done = true;

    while (status == MO_OK && done && !is_ladder_done(b, it) &&
           !mo_stop_reached(stop))
        status = continue_search(b, it, stop, &done, err);
    if (status == MO_OK && !done)
        return MO_OK;
    if (status != MO_OK || !it->ladder->has_hint)
        clear_hint(&it->hint);
    end_ladder(it);
    return status;
}

void mo_search_bound_job_clear(mo_search_bound_job *it)
{
    end_ladder(it);
    clear_hint(&it->hint);
}

/* Makes the block a sub-instance. Time runs from the end of u to the start of
 * v: v takes no time here. */
static mo_status make_sub_instance(const mo_chain_blocks *b,
                                   const mo_search_bound_job *it,
                                   mo_sub_instance **part, mo_error *err)
{
    const mo_chain_block *block = &b->blocks[it->block];
    const mo_bound_segment *s = block->segment;
    const mo_instance *whole = b->classes->classes[block->cls].part->x;
    int *ops = malloc(((size_t) s->n + 2) * sizeof *ops), n = 0;
    mo_status status;

    if (!ops)
        return mo_fail_memory(err);
    if (s->u != MO_FREE)
        ops[n++] = s->u;
    for (int i = 0; i < s->n; i++)
        ops[n++] = s->ops[i];
    if (s->v != MO_FREE)
        ops[n++] = s->v;
    status = mo_sub_instance_make(whole, ops, n, s->u != MO_FREE, part, err);
    free(ops);
    return status;
}

/* Pins u and v to the boundary and removes them from their groups, which is a
 * relaxation. */
static void pin_boundary(const mo_chain_blocks *b,
                         const mo_search_bound_job *it, mo_instance *x)
{
    const mo_bound_segment *s = b->blocks[it->block].segment;
    int n = x->n_devices, last = x->n - 1;

    if (s->u != MO_FREE) {
        x->pin[0] = it->boundary / n;
        x->group[0] = MO_FREE;
    }
    if (s->v != MO_FREE) {
        x->pin[last] = it->boundary % n;
        x->group[last] = MO_FREE;
        x->memory_bytes[last] = x->weight_bytes[last] = 0;
        memset(x->p_ns + (size_t) last * (size_t) n, 0,
               (size_t) n * sizeof *x->p_ns);
    }
}

static mo_status run_exact(const mo_chain_blocks *b, mo_search_bound_job *it,
                           const mo_stop *stop, mo_error *err)
{
    mo_exact_options options = { .below_ns = it->target_ns,
                                 .nodes = (int64_t) EXACT_NODES
                                          << (2 * it->effort),
                                 .stop = stop };
    mo_exact_result result = { 0 };
    mo_sub_instance *part = NULL;
    mo_status status = make_sub_instance(b, it, &part, err);

    if (status == MO_OK) {
        pin_boundary(b, it, part->x);
        status = mo_exact_solve(part->x, &b->classes->regime, &options, &result,
                                err);
    }
    if (status == MO_OK) {
        it->lower_ns = result.lower_ns;
        if (result.finished)
            it->lower_ns =
                result.best ? result.best->makespan_ns : options.below_ns;
        it->reason = (mo_proof_reason){ .known = true,
                                        .kind = MO_PROOF_EXACT,
                                        .params = { result.nodes } };
        if (it->lower_ns < it->target_ns)
            it->failed_ns = it->target_ns;
    }
    mo_schedule_free(result.best);
    mo_sub_instance_free(part);
    return status;
}

mo_status mo_search_bound_job_run(const mo_chain_blocks *b,
                                  mo_search_bound_job *it, const mo_stop *stop,
                                  mo_error *err)
{
    switch (it->how) {
    case MO_SEARCH_BOUND_LOAD:
        return run_load_bound(b, it, err);
    case MO_SEARCH_BOUND_COLGEN:
        return run_colgen(b, it, stop, err);
    case MO_SEARCH_BOUND_EXACT:
        return run_exact(b, it, stop, err);
    }
    return MO_OK;
}
