/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_job.h"

#include <stdlib.h>
#include <string.h>

#include "cost/instance/sub_instance.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/bound/load/load_bound.h"
#include "solvers/search/bound/colgen/branch_and_price.h"

enum {
    FIRST_NODES = 10000,
    RUNGS = 3 /* targets that are tried, one below the other */
};

static int device_of(int op, int device)
{
    return op == MO_FREE ? MO_FREE : device;
}

static mo_status be_fast(const mo_chain_blocks *b, mo_search_bound_job *it,
                         mo_error *err)
{
    const mo_bound_segment *s = b->blocks[it->block].segment;
    int n = b->classes->x->n_devices;

    return mo_load_bound(it->fork, &b->classes->regime,
                         device_of(s->u, it->boundary / n),
                         device_of(s->v, it->boundary % n), &it->lower_ns, err);
}

static void clear_hint(mo_decomp_solution_hint *hint)
{
    free(hint->device);
    free(hint->start_ns);
    *hint = (mo_decomp_solution_hint){ 0 };
}

/* The targets that are tried, one after the other. */
struct mo_search_bound_ladder {
    mo_cg_search *question; /* about the target, if it was asked yet */
    int64_t target_ns;
    int rungs; /* so far */
    bool any;  /* hint */
};

static mo_status begin_climb(const mo_chain_blocks *b, mo_search_bound_job *it,
                             mo_error *err)
{
    size_t n = (size_t) b->blocks[it->block].segment->n;

    it->climb = calloc(1, sizeof *it->climb);
    it->hint.device = malloc(n * sizeof *it->hint.device);
    it->hint.start_ns = malloc(n * sizeof *it->hint.start_ns);
    if (!it->climb || !it->hint.device || !it->hint.start_ns)
        return mo_fail_memory(err);
    it->climb->target_ns = it->target_ns;
    return MO_OK;
}

static void end_climb(mo_search_bound_job *it)
{
    if (it->climb)
        mo_cg_search_free(it->climb->question);
    free(it->climb);
    it->climb = NULL;
}

static mo_status ask(const mo_chain_blocks *b, mo_search_bound_job *it,
                     mo_error *err)
{
    const mo_bound_segment *s = b->blocks[it->block].segment;
    int n = b->classes->x->n_devices;

    if (it->climb->question)
        return MO_OK;
    /* What cannot end by then takes a nanosecond more. */
    return mo_cg_search_new(
        it->fork, &b->classes->regime, device_of(s->u, it->boundary / n),
        device_of(s->v, it->boundary % n), it->climb->target_ns - 1, it->effort,
        &it->climb->question, err);
}

/* Half of what was too much is tried next: there is no telling beforehand how
 * much can be proven. */
static void take_answer(mo_search_bound_job *it, int64_t known_ns, bool refuted)
{
    mo_search_bound_ladder *c = it->climb;

    mo_cg_search_free(c->question);
    c->question = NULL;
    c->rungs = refuted ? RUNGS : c->rungs + 1;
    if (refuted)
        it->lower_ns = c->target_ns;
    else
        it->failed_ns = c->target_ns;
    c->target_ns = known_ns + (c->target_ns - known_ns) / 2;
}

/* Whether the block cannot be done before the target; *done: it is answered.
 * The hint is that of the least target that failed. */
static mo_status refute(const mo_chain_blocks *b, mo_search_bound_job *it,
                        const mo_stop *stop, bool *done, mo_error *err)
{
    int64_t known_ns = b->blocks[it->block].lower_ns[it->boundary];
    bool suggested = false, refuted = false;
    mo_cg_options options = { .stop = stop,
                              .device = it->hint.device,
                              .start_ns = it->hint.start_ns,
                              .suggested = &suggested };
    mo_status status = ask(b, it, err);

    if (status == MO_OK)
        status = mo_cg_search_run(it->climb->question, it->steps, &options,
                                  done, &refuted, err);
    if (status != MO_OK)
        return status;
    it->climb->any |= suggested;
    if (*done)
        take_answer(it, known_ns, refuted);
    return MO_OK;
}

static bool is_at_top(const mo_chain_blocks *b, const mo_search_bound_job *it)
{
    return it->climb->rungs >= RUNGS ||
           it->climb->target_ns <= b->blocks[it->block].lower_ns[it->boundary];
}

/* Stopped or not, only what has been answered is left behind. */
static mo_status be_timed(const mo_chain_blocks *b, mo_search_bound_job *it,
                          const mo_stop *stop, mo_error *err)
{
    mo_status status = it->climb ? MO_OK : begin_climb(b, it, err);
    bool done = true;

    while (status == MO_OK && done && !is_at_top(b, it) &&
           !mo_stop_reached(stop))
        status = refute(b, it, stop, &done, err);
    if (status == MO_OK && !done)
        return MO_OK;
    if (status != MO_OK || !it->climb->any)
        clear_hint(&it->hint);
    end_climb(it);
    return status;
}

void mo_search_bound_job_clear(mo_search_bound_job *it)
{
    end_climb(it);
    clear_hint(&it->hint);
}

/* The block as an instance of its own.  The clock begins when u has ended and
 * stops when v can start: v takes no time here. */
static mo_status make_part(const mo_chain_blocks *b,
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

/* With its ends where the boundary says; an end's group is let go of, which can
 * only make the block shorter. */
static void pin_ends(const mo_chain_blocks *b, const mo_search_bound_job *it,
                     mo_instance *x)
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

static mo_status search_all(const mo_chain_blocks *b, mo_search_bound_job *it,
                            const mo_stop *stop, mo_error *err)
{
    mo_exact_options options = { .below_ns = it->target_ns,
                                 .nodes = (int64_t) FIRST_NODES
                                          << (2 * it->effort),
                                 .stop = stop };
    mo_exact_result result = { 0 };
    mo_sub_instance *part = NULL;
    mo_status status = make_part(b, it, &part, err);

    if (status == MO_OK) {
        pin_ends(b, it, part->x);
        status = mo_exact_solve(part->x, &b->classes->regime, &options, &result,
                                err);
    }
    if (status == MO_OK) {
        it->lower_ns = result.lower_ns;
        if (result.finished)
            it->lower_ns =
                result.best ? result.best->makespan_ns : options.below_ns;
        if (it->lower_ns < it->target_ns)
            it->failed_ns = it->target_ns;
    }
    mo_schedule_free(result.best);
    mo_sub_instance_free(part);
    return status;
}

void mo_search_bound_job_run(const mo_chain_blocks *b, mo_search_bound_job *it,
                             const mo_stop *stop)
{
    switch (it->how) {
    case MO_SEARCH_BOUND_LOAD:
        it->status = be_fast(b, it, &it->err);
        break;
    case MO_SEARCH_BOUND_COLGEN:
        it->status = be_timed(b, it, stop, &it->err);
        break;
    case MO_SEARCH_BOUND_EXACT:
        it->status = search_all(b, it, stop, &it->err);
        break;
    }
}
