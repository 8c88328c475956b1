/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/certificate.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/proof/proof_chain.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/bound/load/load_bound.h"
#include "solvers/search/driver/case_split.h"
#include "solvers/search/driver/priced_bound.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/period/period_certificate.h"

enum {
    PRICE_BITS = 32,
    NODE_SLACK = 2, /* nodes of a refutation, by those of the search */
    MIN_NODES = 1000
};

/* Of a step of column generation (mo_stop_spend). */
#define STEP_WORK INT64_C(2500000)

/* Most work of the verification of a certificate that is made here. */
#define VERIFY_WORK INT64_C(60000000000)

static mo_forkjoin_case case_of(const mo_proof_subject *subject,
                                const mo_forkjoin *fork)
{
    return mo_forkjoin_at(fork, subject->a, subject->b);
}

static mo_status find_load(const mo_proof_subject *subject, int64_t *lower_ns,
                           mo_error *err)
{
    mo_forkjoin *fork = NULL;
    mo_status status =
        mo_forkjoin_find(subject->domains, subject->segment, &fork, err);

    if (status == MO_OK) {
        const mo_forkjoin_case at = case_of(subject, fork);

        mo_stop_spend(subject->stop, mo_load_bound_work(fork));
        status = mo_load_bound(&at, lower_ns, err);
    }
    mo_forkjoin_free(fork);
    return status;
}

/* Refutes that the segment takes less than what is claimed. */
static mo_status refute_by_columns(const mo_proof_subject *subject,
                                   int64_t *lower_ns, mo_error *err)
{
    enum { MAX_EFFORT = 16 };
    const int64_t *params = subject->params;
    const mo_cg_options options = { .stop = subject->stop };
    mo_forkjoin *fork = NULL;
    mo_cg_search *search = NULL;
    bool done = false, refuted = false;
    int64_t steps = mo_min_i64(params[1], INT32_MAX);
    mo_status status = MO_OK;

    if (params[0] < 1 || params[0] > MAX_EFFORT || subject->value_ns < 1)
        return MO_OK;
    status = mo_forkjoin_find(subject->domains, subject->segment, &fork, err);
    if (status == MO_OK) {
        const mo_forkjoin_case at = case_of(subject, fork);

        status = mo_cg_search_new(&at, subject->value_ns - 1, (int) params[0],
                                  &search, err);
    }
    while (status == MO_OK && !done && steps > 0 &&
           !mo_stop_spend(subject->stop, mo_min_i64(steps, 64) * STEP_WORK)) {
        status = mo_cg_search_run(search, mo_min_i64(steps, 64), &options,
                                  &done, &refuted, err);
        steps -= 64;
    }
    if (refuted)
        *lower_ns = subject->value_ns;
    mo_cg_search_free(search);
    mo_forkjoin_free(fork);
    return status;
}

static mo_status refute_exactly(const mo_proof_subject *subject,
                                int64_t *lower_ns, mo_error *err)
{
    bool never = subject->value_ns >= MO_PROOF_NEVER_NS;
    const mo_exact_options options = {
        .below_ns = never ? INT64_MAX : subject->value_ns,
        .nodes = mo_max_i64(subject->params[0], 1),
        .stop = subject->stop
    };
    mo_exact_result result = { 0 };
    mo_status status = mo_exact_solve(subject->part, &subject->domains->regime,
                                      &options, &result, err);

    if (status != MO_OK)
        return status;
    *lower_ns = result.lower_ns;
    if (result.finished)
        *lower_ns = result.best ? result.best->makespan_ns : subject->value_ns;
    mo_schedule_free(result.best);
    return MO_OK;
}

/* The load bound with prices, where most branches are equal. */
static mo_status find_priced_load(const mo_proof_subject *subject,
                                  const int64_t *price_ns, int64_t *entry_ns,
                                  double *used_bytes, bool *raised,
                                  mo_error *err)
{
    mo_forkjoin *fork = NULL;
    int64_t bound_ns = 0;
    mo_status status = MO_OK;

    if (subject->segment->n > 1)
        status =
            mo_forkjoin_find(subject->domains, subject->segment, &fork, err);
    if (status == MO_OK && fork && mo_forkjoin_has_many_equal_branches(fork)) {
        const mo_forkjoin_case at = case_of(subject, fork);

        mo_stop_spend(subject->stop, mo_load_bound_work(fork));
        status =
            mo_load_bound_priced(&at, price_ns, 0, &bound_ns, used_bytes, err);
    }
    *raised = status == MO_OK && bound_ns > *entry_ns;
    if (*raised)
        *entry_ns = bound_ns;
    mo_forkjoin_free(fork);
    return status;
}

/* The chain of a span as that of its instance: with segments without ops in
 * front of u and behind v, as in the search. */
typedef struct part_chain {
    mo_bound_chain chain;
    mo_chain_block *blocks; /* by segment */
    int *block;
    int64_t *zeros;
} part_chain;

/* Returns the number of an op of the span in its instance. */
static int to_part_op(const mo_bound_segment *whole, int op)
{
    int shift = whole->u != MO_FREE, low = 0, high = whole->n;

    if (op == MO_FREE)
        return MO_FREE;
    if (op == whole->u)
        return 0;
    if (op == whole->v)
        return whole->n + shift;
    while (low < high) {
        int middle = low + (high - low) / 2;

        if (whole->ops[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low + shift;
}

static void add_part_segment(part_chain *c, mo_bound_segment segment,
                             const int64_t *table)
{
    int n = c->chain.n++;

    c->chain.segments[n] = segment;
    c->block[n] = n;
    /* Tables of blocks are read only. */
    c->blocks[n].lower_ns = c->zeros;
    if (table)
        c->blocks[n].lower_ns = (int64_t *) (uintptr_t) table;
}

static mo_status make_part_chain(const mo_proof_subject *subject, part_chain *c,
                                 mo_error *err)
{
    const mo_bound_segment *whole = subject->segment;
    size_t n = (size_t) subject->n_inner + 2,
           K = (size_t) subject->part->n_devices;
    int *ops;

    c->chain.segments = calloc(n, sizeof *c->chain.segments);
    c->chain.ops = calloc((size_t) subject->part->n + 1, sizeof *ops);
    c->blocks = calloc(n, sizeof *c->blocks);
    c->block = calloc(n, sizeof *c->block);
    c->zeros = calloc(K, K * sizeof *c->zeros);
    if (!c->chain.segments || !c->chain.ops || !c->blocks || !c->block ||
        !c->zeros)
        return mo_fail_memory(err);
    ops = c->chain.ops;
    if (whole->u != MO_FREE)
        add_part_segment(c, (mo_bound_segment){ MO_FREE, 0, ops, 0 }, NULL);
    for (int i = 0; i < subject->n_inner; i++) {
        const mo_bound_segment *s = &subject->inner[i];
        mo_bound_segment to = { to_part_op(whole, s->u),
                                to_part_op(whole, s->v), ops, s->n };

        for (int j = 0; j < s->n; j++)
            *ops++ = to_part_op(whole, s->ops[j]);
        add_part_segment(c, to, subject->inner_tables[i]);
    }
    if (whole->v != MO_FREE)
        add_part_segment(
            c,
            (mo_bound_segment){ to_part_op(whole, whole->v), MO_FREE, ops, 0 },
            NULL);
    return MO_OK;
}

/* The case split of the search, with the tables that were verified. */
static mo_status refute_by_cases(const mo_proof_subject *subject,
                                 int64_t *lower_ns, mo_error *err)
{
    const mo_bound_segment *whole = subject->segment;
    size_t K = (size_t) subject->part->n_devices;
    int64_t steps = mo_min_i64(subject->params[0], INT32_MAX), before = steps;
    const mo_search_case_split_options options = { subject->value_ns,
                                                   MO_SEARCH_CASE_LEAST_READERS,
                                                   &steps, subject->stop };
    mo_decomp_class cls = { .n = subject->part->n,
                            .u = whole->u == MO_FREE ? MO_FREE : 0,
                            .v = whole->v == MO_FREE ? MO_FREE
                                                     : subject->part->n - 1 };
    const mo_decomp_classes classes = { .x = subject->part,
                                        .regime = subject->domains->regime,
                                        .n = 1,
                                        .classes = &cls };
    mo_chain_partition partition = {
        .places = { subject->part, subject->domains->regime, NULL }
    };
    part_chain c = { 0 };
    mo_chain_blocks blocks = { .classes = &classes, .partitions = &partition };
    mo_status status = make_part_chain(subject, &c, err);

    partition.places.allowed =
        calloc((size_t) subject->part->n + 1, K * sizeof(bool));
    if (status == MO_OK && !partition.places.allowed)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_allowed_devices_find(&partition.places, err);
    partition.chain = &c.chain;
    partition.block = c.block;
    blocks.blocks = c.blocks;
    blocks.n = c.chain.n;
    if (status == MO_OK && subject->value_ns < MO_PROOF_NEVER_NS)
        status = mo_search_case_split_bound(&blocks, 0,
                                            subject->a * (int) K + subject->b,
                                            &options, lower_ns, err);
    mo_stop_spend(subject->stop, 2 * (before - steps));
    free(partition.places.allowed);
    free(c.chain.segments);
    free(c.chain.ops);
    free(c.blocks);
    free(c.block);
    free(c.zeros);
    return status;
}

const mo_proof_rules mo_search_proof_rules = {
    .of = { [MO_PROOF_LOAD] = find_load,
            [MO_PROOF_COLGEN] = refute_by_columns,
            [MO_PROOF_EXACT] = refute_exactly,
            [MO_PROOF_SPAN] = refute_exactly,
            [MO_PROOF_CASES] = refute_by_cases,
            [MO_PROOF_LAGRANGIAN] = mo_period_prove_lagrangian,
            [MO_PROOF_BRANCH] = mo_period_prove_branch,
            [MO_PROOF_PACKING] = mo_period_prove_packing,
            [MO_PROOF_SETS] = mo_period_prove_sets,
            [MO_PROOF_ENUMERATE] = mo_period_prove_enumeration },
    .priced = find_priced_load
};

typedef struct certifier {
    mo_search_state *s;
    mo_proof *proof;
    int *block;        /* by segment of the chain: block, -1: none */
    int *first, *last; /* by segment of the search: those of the chain */
    int n;             /* segments of the chain */
    mo_proof_chain chain;
} certifier;

static const mo_bound_chain *chain_of(const certifier *c, int segment)
{
    const mo_search_state *s = c->s;

    return s->blocks ? s->blocks->partitions[s->segments->cls[segment]].chain
                     : NULL;
}

static void add_segment(certifier *c, int block)
{
    c->block[c->n++] = block;
}

/* Adds the ops of the chain of a segment, and its exit op.  The first and last
 * segment of a partition lie outside its entry and exit op. */
static mo_status add_chain(certifier *c, int segment, mo_error *err)
{
    const mo_decomp_segments *segments = c->s->segments;
    const mo_bound_chain *chain = chain_of(c, segment);
    int first = mo_decomp_segment_first_op(segments, segment);
    int exit_op = mo_decomp_segment_exit(segments, segment);
    mo_status status = MO_OK;

    c->first[segment] = c->n;
    for (int i = 0; chain && i < chain->n && status == MO_OK; i++) {
        const mo_bound_segment *at = &chain->segments[i];

        if ((at->u == MO_FREE && segment > 0) ||
            (at->v == MO_FREE && segment < segments->n - 1))
            continue;
        add_segment(c,
                    c->s->blocks->partitions[segments->cls[segment]].block[i]);
        if (at->v != MO_FREE)
            status = mo_proof_add_op(c->proof, first + at->v, err);
    }
    if (!chain) {
        add_segment(c, -1);
        if (exit_op != MO_FREE)
            status = mo_proof_add_op(c->proof, exit_op, err);
    }
    c->last[segment] = c->n - 1;
    return status;
}

/* Returns whether the segments of the partitions are connected by the cuts. */
static bool is_connected(const certifier *c)
{
    const mo_proof *proof = c->proof;

    for (size_t i = 1; i < proof->n_chain; i++)
        if (proof->chain[i] <= proof->chain[i - 1])
            return false;
    return c->n == (int) proof->n_chain + 1;
}

static mo_status add_entry(certifier *c, mo_proof_entry e,
                           const mo_proof_reason *reason, int64_t lower_ns,
                           mo_error *err)
{
    static const size_t n_params[] = {
        [MO_PROOF_TEST] = 1, [MO_PROOF_COLGEN] = 2, [MO_PROOF_EXACT] = 1,
        [MO_PROOF_SPAN] = 1, [MO_PROOF_CASES] = 1,  [MO_PROOF_N_KINDS] = 0
    };
    int64_t params[2] = { reason->params[0], reason->params[1] };

    e.kind = reason->kind;
    e.value_ns = mo_min_i64(lower_ns, MO_PROOF_NEVER_NS);
    if (e.kind == MO_PROOF_EXACT || e.kind == MO_PROOF_SPAN)
        params[0] = mo_max_i64(MIN_NODES, NODE_SLACK * params[0]);
    return mo_proof_add(c->proof, e, params, n_params[e.kind], err);
}

/* Entries of the classes of segments between the ops of the chain. */
static mo_status add_blocks(certifier *c, mo_error *err)
{
    int K = c->s->x->n_devices;
    mo_status status = MO_OK;

    for (int i = 0; i < c->chain.classes->n; i++) {
        int first = c->chain.classes->first[i], number = c->block[first];
        const mo_bound_segment *at = &c->chain.chain.segments[first];

        if (number < 0 || at->n == 0)
            continue;
        for (int p = 0; p < K * K && status == MO_OK; p++) {
            const mo_chain_block *block = &c->s->blocks->blocks[number];
            const mo_proof_entry e = {
                .first = first, .last = first, .a = p / K, .b = p % K
            };

            if (block->reasons[p].known && mo_proof_chain_has(&c->chain, &e) &&
                block->lower_ns[p] > c->chain.tables[i][p])
                status = add_entry(c, e, &block->reasons[p], block->lower_ns[p],
                                   err);
        }
    }
    return status;
}

/* Entries of the classes of the search as a whole. */
static mo_status add_spans(certifier *c, mo_error *err)
{
    const mo_search_state *s = c->s;
    int n = s->states.n;
    mo_status status = MO_OK;

    for (int i = 0; i < s->classes->n; i++) {
        const mo_decomp_class *cls = &s->classes->classes[i];
        int segment = s->segments->first[i];

        for (int p = 0; p < n * n && cls->boundaries && status == MO_OK; p++) {
            const mo_decomp_boundary *at = &cls->boundaries[p];
            const mo_proof_entry e = { .first = c->first[segment],
                                       .last = c->last[segment],
                                       .a = s->states.device[p / n],
                                       .b = s->states.device[p % n] };

            if (at->reason.known && at->own_ns > 0)
                status = add_entry(c, e, &at->reason, at->own_ns, err);
        }
    }
    return status;
}

static mo_status add_prices(certifier *c, mo_error *err)
{
    size_t K = (size_t) c->s->x->n_devices;
    double *price_ns = calloc(K + 1, sizeof *price_ns);
    int64_t *params = calloc(K + 1, sizeof *params);
    mo_status status = price_ns && params ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK &&
        mo_search_priced_bound_prices(c->s->priced, price_ns)) {
        for (size_t k = 0; k < K; k++)
            params[k] =
                (int64_t) fmin(ldexp(fmax(price_ns[k], 0), PRICE_BITS), 0x1p62);
        status =
            mo_proof_add(c->proof, (mo_proof_entry){ .kind = MO_PROOF_PRICES },
                         params, K, err);
    }
    free(price_ns);
    free(params);
    return status;
}

/* All that is known and can be repeated. */
static mo_status collect(certifier *c, mo_error *err)
{
    const mo_search_state *s = c->s;
    const char *fault = NULL;
    mo_status status = MO_OK;

    for (int i = 0; i < s->segments->n && status == MO_OK; i++)
        status = add_chain(c, i, err);
    if (status == MO_OK && !is_connected(c))
        c->proof->n_chain = 0;
    if (status == MO_OK)
        status = mo_proof_chain_open(&c->chain, s->x, &s->regime, c->proof,
                                     &fault, err);
    if (status == MO_OK && !fault && is_connected(c))
        status = mo_proof_chain_fill(&c->chain, err);
    if (status == MO_OK && !fault && is_connected(c) && s->blocks)
        status = add_blocks(c, err);
    if (status == MO_OK && !fault && is_connected(c) &&
        (s->states.all || s->segments->n == 1))
        status = add_spans(c, err);
    if (status == MO_OK && !fault)
        status = add_prices(c, err);
    if (status == MO_OK && s->colocation_ns > 0)
        status = mo_proof_add(c->proof,
                              (mo_proof_entry){ .kind = MO_PROOF_COLOCATION,
                                                .value_ns = s->colocation_ns },
                              s->colocation_effort, 2, err);
    if (status == MO_OK && s->whole_ns > 0)
        status = mo_proof_add(
            c->proof,
            (mo_proof_entry){ .kind = MO_PROOF_WHOLE, .value_ns = s->whole_ns },
            &s->whole_work, 1, err);
    return status;
}

/* Keeps the entries that are marked, with the values that hold where they are
 * given. */
static void keep_entries(mo_proof *proof, const bool *needed,
                         const int64_t *held)
{
    size_t n = 0;

    for (size_t i = 0; i < proof->n; i++) {
        mo_proof_entry e = proof->entries[i];

        if (held)
            e.value_ns = mo_min_i64(e.value_ns, held[i]);
        if (needed ? needed[i] : e.value_ns > 0)
            proof->entries[n++] = e;
    }
    proof->n = n;
}

/* Takes away the last entry if it is of that kind. */
static bool take_last(mo_proof *proof, mo_proof_kind kind, mo_proof_entry *e)
{
    if (proof->n == 0 || proof->entries[proof->n - 1].kind != kind)
        return false;
    *e = proof->entries[--proof->n];
    return true;
}

/* Verifies the entries and keeps what holds of them. */
static mo_status verify(const mo_search_state *s, mo_proof *proof,
                        mo_error *err)
{
    const mo_proof_scope scope = { s->x, s->task->regime, MO_OBJECTIVE_LATENCY,
                                   0 };
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = VERIFY_WORK };
    int64_t *held = calloc(proof->n + 1, sizeof *held);
    mo_proof_result result;
    mo_status status = held ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_proof_verify(&scope, proof, &mo_search_proof_rules, &stop,
                                 held, &result, err);
    if (status == MO_OK) {
        proof->bound_ns = result.bound_ns;
        keep_entries(proof, NULL, held);
    }
    free(held);
    return status;
}

/* Drops what the bound does not need, and what does not hold.  Colocation uses
 * all tables, and counts where it proves more than they do.  Repeating the
 * bound of the whole takes as long as the search took for it and gives the
 * same. */
static mo_status reduce(certifier *c, mo_error *err)
{
    const mo_search_state *s = c->s;
    mo_proof *proof = c->proof;
    bool *needed = calloc(proof->n + 1, sizeof *needed);
    bool has_whole, has_colocation;
    mo_proof_entry whole, colocation;
    int64_t bound_ns = 0;
    mo_status status = needed ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_proof_select(s->x, &s->task->regime, proof, needed,
                                 &bound_ns, err);
    has_whole = take_last(proof, MO_PROOF_WHOLE, &whole);
    has_colocation = take_last(proof, MO_PROOF_COLOCATION, &colocation);
    if (status == MO_OK && !s->priced && !has_colocation)
        keep_entries(proof, needed, NULL);
    for (size_t i = 0; i < proof->n; i++)
        if (proof->entries[i].kind == MO_PROOF_PRICES)
            proof->entries[i].value_ns = s->lower_ns;
    if (status == MO_OK)
        status = verify(s, proof, err);
    if (status == MO_OK && has_colocation &&
        colocation.value_ns > proof->bound_ns) {
        proof->entries[proof->n++] = colocation;
        status = verify(s, proof, err);
    }
    if (status == MO_OK && has_whole && whole.value_ns > proof->bound_ns) {
        proof->bound_ns = whole.value_ns;
        proof->entries[0] = whole;
        proof->n = 1;
    }
    free(needed);
    return status;
}

mo_status mo_search_certify(mo_search_state *search, mo_proof **proof,
                            mo_error *err)
{
    size_t n = (size_t) search->x->n + 2 + (size_t) search->segments->n;
    certifier c = { .s = search };
    mo_status status = mo_proof_new(&c.proof, err);

    *proof = NULL;
    if (status != MO_OK)
        return status;
    c.proof->digest = mo_proof_digest(&(mo_proof_scope){
        search->x, search->task->regime, MO_OBJECTIVE_LATENCY, 0 });
    c.proof->unlimited = search->regime.memory == MO_MEMORY_NONE;
    c.block = calloc(2 * n, sizeof *c.block);
    c.first = calloc(n, sizeof *c.first);
    c.last = calloc(n, sizeof *c.last);
    status =
        c.block && c.first && c.last ? collect(&c, err) : mo_fail_memory(err);
    mo_proof_chain_clear(&c.chain);
    if (status == MO_OK)
        status = reduce(&c, err);
    free(c.block);
    free(c.first);
    free(c.last);
    if (status == MO_OK && c.proof->bound_ns > 0)
        *proof = c.proof;
    else
        mo_proof_free(c.proof);
    return status;
}
