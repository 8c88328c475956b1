/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/proof/proof_verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/minmax.h"
#include "cost/instance/sub_instance.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/bound/priced_chain.h"
#include "schedule/proof/proof_chain.h"

enum { PRICE_BITS = 32, MAX_PRICE_DEVICES = 64 };

typedef struct verifier {
    const mo_proof_scope *scope;
    const mo_instance *x;
    mo_regime regime;
    const mo_proof *proof;
    const mo_proof_rules *rules;
    const mo_stop *stop;
    mo_proof_result *result;
    mo_proof_chain chain;
    mo_bound_segments *segments;
    int64_t *held;     /* by entry; NULL: not wanted */
    mo_status refined; /* of entries with prices: the first failure, ... */
    mo_error err;      /* and its error */
} verifier;

uint64_t mo_proof_digest(const mo_proof_scope *scope)
{
    const mo_regime *regime = &scope->regime;
    const uint64_t numbers[] = { scope->x->digest,
                                 (uint64_t) regime->congestion,
                                 (uint64_t) regime->tensors,
                                 (uint64_t) regime->memory,
                                 (uint64_t) scope->objective };
    bool is_period = scope->objective == MO_OBJECTIVE_PERIOD;

    return mo_digest_of(numbers,
                        sizeof numbers - (is_period ? 0 : sizeof *numbers));
}

/* Counts a rejected entry and keeps the first reason. */
static void reject(verifier *v, const mo_proof_entry *e, const char *why,
                   int64_t lower_ns)
{
    mo_proof_result *r = v->result;

    if (r->n_rejected++ > 0)
        return;
    if (e && e->line > 0)
        snprintf(r->why, sizeof r->why,
                 "%.100s:%d: entry '%s' %s; %" PRId64
                 " ns hold instead of %" PRId64,
                 v->proof->file, e->line, mo_proof_kind_names[e->kind], why,
                 lower_ns, e->value_ns);
    else
        snprintf(r->why, sizeof r->why, "%s", why);
}

/* Makes the segment an instance that begins with the end of u.  Unless it is a
 * span, v takes no time and no memory: a relaxation. */
static mo_status make_part(const verifier *v, const mo_bound_segment *s,
                           const mo_proof_entry *e, mo_sub_instance **part,
                           bool *possible, mo_error *err)
{
    int *ops = malloc(((size_t) s->n + 2) * sizeof *ops), n = 0;
    size_t K = (size_t) v->x->n_devices;
    bool is_span = mo_proof_is_span(e->kind);
    mo_status status;

    if (!ops)
        return mo_fail_memory(err);
    if (s->u != MO_FREE)
        ops[n++] = s->u;
    for (int i = 0; i < s->n; i++)
        ops[n++] = s->ops[i];
    if (s->v != MO_FREE)
        ops[n++] = s->v;
    status = mo_sub_instance_make(v->x, ops, n, s->u != MO_FREE, part, err);
    free(ops);
    if (status != MO_OK)
        return status;
    mo_instance *x = (*part)->x;

    *possible = true;
    if (s->v != MO_FREE && !is_span) {
        x->memory_bytes[n - 1] = x->weight_bytes[n - 1] = 0;
        memset(x->p_ns + (size_t) (n - 1) * K, 0, K * sizeof *x->p_ns);
    }
    if (s->u != MO_FREE)
        *possible &= mo_instance_pin_with_group(x, 0, e->a);
    if (s->v != MO_FREE)
        *possible &= mo_instance_pin_with_group(x, n - 1, e->b);
    return MO_OK;
}

static mo_status apply_rule(verifier *v, const mo_proof_entry *e,
                            int64_t *lower_ns, mo_error *err)
{
    const mo_bound_segment *s = mo_proof_is_span(e->kind)
                                    ? &mo_proof_chain_span(&v->chain, e)->whole
                                    : &v->chain.chain.segments[e->first];
    const int64_t *params =
        e->n_params > 0 ? v->proof->params + e->params : NULL;
    mo_proof_subject subject = { .domains = &v->chain.domains,
                                 .segment = s,
                                 .a = e->a,
                                 .b = e->b,
                                 .value_ns = e->value_ns,
                                 .params = params,
                                 .n_params = e->n_params,
                                 .stop = v->stop };
    mo_sub_instance *part = NULL;
    const int64_t **tables = NULL;
    int n;
    bool possible = true;
    mo_status status = MO_OK;

    if (!v->rules || !v->rules->of[e->kind])
        return MO_OK;
    if (e->kind == MO_PROOF_EXACT || mo_proof_is_span(e->kind)) {
        status = make_part(v, s, e, &part, &possible, err);
        if (status == MO_OK)
            subject.part = part->x;
    }
    if (status == MO_OK && mo_proof_is_span(e->kind)) {
        n = e->last - e->first + 1;
        tables = malloc((size_t) n * sizeof *tables);
        for (int i = 0; tables && i < n; i++)
            tables[i] = v->chain.tables[v->chain.classes->of[e->first + i]];
        subject.inner = &v->chain.chain.segments[e->first];
        subject.inner_tables = tables;
        subject.n_inner = n;
        status = tables ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK && !possible)
        *lower_ns = MO_PROOF_NEVER_NS;
    else if (status == MO_OK)
        status = v->rules->of[e->kind](&subject, lower_ns, err);
    free(tables);
    mo_sub_instance_free(part);
    return status;
}

/* Evaluates an entry of the tables and raises its value there. */
static mo_status verify_entry(verifier *v, const mo_proof_entry *e,
                              mo_error *err)
{
    const mo_bound_segment *s;
    int64_t lower_ns = 0, *at;
    mo_status status = MO_OK;

    if (!mo_proof_chain_has(&v->chain, e)) {
        reject(v, e, "names no segment of its chain, or no device it allows",
               0);
        return MO_OK;
    }
    if (mo_stop_reached(v->stop)) {
        reject(v, e, "is beyond the limit of work", 0);
        return MO_OK;
    }
    s = &v->chain.chain.segments[e->first];
    at = mo_proof_chain_at(&v->chain, e);
    if (e->kind == MO_PROOF_TEST) {
        if (e->value_ns > *at && s->n > 0) {
            lower_ns = e->value_ns;
            mo_bound_segments_prove(v->segments, s, e->a, e->b,
                                    v->proof->params[e->params], &lower_ns);
        }
    } else {
        status = apply_rule(v, e, &lower_ns, err);
    }
    *at = mo_max_i64(*at, lower_ns);
    if (v->held)
        v->held[e - v->proof->entries] = lower_ns;
    if (*at < e->value_ns)
        reject(v, e, "does not hold", *at);
    return status;
}

/* mo_priced_chain_refine. */
static bool refine_priced(void *context, int cls, int boundary,
                          const int64_t *price_ns, int64_t *entry_ns,
                          double *used_bytes)
{
    verifier *v = context;
    int K = v->x->n_devices;
    const mo_proof_subject subject = {
        .domains = &v->chain.domains,
        .segment = &v->chain.chain.segments[v->chain.classes->first[cls]],
        .a = boundary / K,
        .b = boundary % K,
        .stop = v->stop
    };
    bool raised = false;

    if (!v->rules || !v->rules->priced || v->refined != MO_OK ||
        mo_stop_reached(v->stop))
        return false;
    v->refined = v->rules->priced(&subject, price_ns, entry_ns, used_bytes,
                                  &raised, &v->err);
    return v->refined == MO_OK && raised;
}

/* The bound with prices of memory. */
static mo_status verify_prices(verifier *v, const mo_proof_entry *e,
                               int64_t *lower_ns, mo_error *err)
{
    const mo_bound_segment_classes *classes = v->chain.classes;
    const mo_priced_chain_tables tables = {
        .segments = v->chain.chain.segments,
        .n = v->chain.chain.n,
        .cls = classes ? classes->of : NULL,
        .n_classes = classes ? classes->n : 0,
        .first = classes ? classes->first : NULL,
        .table = (const int64_t *const *) v->chain.tables,
        .refine = refine_priced,
        .context = v,
    };
    double prices[MAX_PRICE_DEVICES];
    mo_priced_chain *priced = NULL;
    mo_status status;

    if (tables.n == 0 || e->n_params != (size_t) v->x->n_devices ||
        e->n_params > MAX_PRICE_DEVICES ||
        !mo_priced_chain_pays(&v->chain.domains))
        return MO_OK;
    for (size_t k = 0; k < e->n_params; k++)
        prices[k] =
            ldexp((double) v->proof->params[e->params + k], -PRICE_BITS);
    status = mo_priced_chain_new(&v->chain.domains, &tables, &priced, err);
    if (status == MO_OK)
        *lower_ns = mo_min_i64(mo_priced_chain_evaluate(priced, prices, NULL),
                               MO_PROOF_NEVER_NS);
    mo_priced_chain_free(priced);
    if (status == MO_OK && v->refined != MO_OK) {
        status = v->refined;
        if (err)
            *err = v->err;
    }
    return status;
}

/* The bound by colocation, with what the tables prove. */
static mo_status verify_colocation(verifier *v, const mo_proof_entry *e,
                                   int64_t *lower_ns, mo_error *err)
{
    const int64_t *params = v->proof->params + e->params;
    const mo_coloc_effort effort = { fmin((double) params[0], MO_COLOC_WORK),
                                     (double) params[1] };
    size_t room = (size_t) v->chain.chain.n + v->chain.n_spans + 1;
    mo_coloc_pair_bound *pairs = calloc(room, sizeof *pairs);
    int64_t bound_ns = 0;
    mo_status status = pairs ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_bound_colocation(&v->chain.domains, pairs,
                                     mo_proof_chain_pairs(&v->chain, pairs),
                                     &effort, v->stop, &bound_ns, err);
    *lower_ns = mo_min_i64(bound_ns, MO_PROOF_NEVER_NS);
    free(pairs);
    return status;
}

static mo_status verify_full(verifier *v, const mo_proof_entry *e,
                             int64_t *lower_ns, mo_error *err)
{
    _Atomic int64_t work = 0;
    const mo_stop limit = { .deadline_ns = INT64_MAX,
                            .work = &work,
                            .max_work = v->proof->params[e->params],
                            .outer = v->stop };
    mo_lower_bound lower = { 0 };
    mo_status status =
        mo_bound_lower_until(v->x, &v->regime, &limit, &lower, err);

    *lower_ns = lower.bound_ns;
    return status;
}

/* A bound of the period. */
static mo_status verify_period(verifier *v, const mo_proof_entry *e,
                               int64_t *lower_ns, mo_error *err)
{
    const mo_allowed_devices domains = { v->x, v->regime, NULL };
    const mo_proof_subject subject = {
        .domains = &domains,
        .part = v->x,
        .value_ns = e->value_ns,
        .params = e->n_params > 0 ? v->proof->params + e->params : NULL,
        .n_params = e->n_params,
        .in_flight = v->scope->in_flight,
        .stop = v->stop
    };

    return v->rules && v->rules->of[e->kind]
               ? v->rules->of[e->kind](&subject, lower_ns, err)
               : MO_OK;
}

/* Evaluates an entry of the whole. */
static mo_status verify_whole(verifier *v, const mo_proof_entry *e,
                              int64_t *lower_ns, mo_error *err)
{
    bool is_period = v->scope->objective == MO_OBJECTIVE_PERIOD;

    if (mo_stop_reached(v->stop) || mo_proof_is_of_period(e->kind) != is_period)
        return MO_OK;
    switch (e->kind) {
    case MO_PROOF_PRICES:
        return verify_prices(v, e, lower_ns, err);
    case MO_PROOF_COLOCATION:
        return verify_colocation(v, e, lower_ns, err);
    case MO_PROOF_WHOLE:
        return verify_full(v, e, lower_ns, err);
    default:
        return verify_period(v, e, lower_ns, err);
    }
}

/* Evaluates the entries of the tables; then cases and those of the whole, which
 * use them. */
static mo_status verify_entries(verifier *v, mo_error *err)
{
    const mo_proof *proof = v->proof;
    mo_status status = MO_OK;

    for (size_t i = 0; i < proof->n && status == MO_OK; i++)
        if (!mo_proof_is_whole(proof->entries[i].kind) &&
            proof->entries[i].kind != MO_PROOF_CASES)
            status = verify_entry(v, &proof->entries[i], err);
    for (size_t i = 0; i < proof->n && status == MO_OK; i++)
        if (proof->entries[i].kind == MO_PROOF_CASES)
            status = verify_entry(v, &proof->entries[i], err);
    if (status == MO_OK && v->chain.chain.n > 0)
        v->result->chain_ns = mo_proof_chain_shortest(&v->chain);
    v->result->bound_ns = v->result->chain_ns;
    for (size_t i = 0; i < proof->n && status == MO_OK; i++) {
        const mo_proof_entry *e = &proof->entries[i];
        int64_t lower_ns = 0;

        if (!mo_proof_is_whole(e->kind))
            continue;
        status = verify_whole(v, e, &lower_ns, err);
        if (lower_ns < e->value_ns)
            reject(v, e, "does not hold", lower_ns);
        if (v->held)
            v->held[i] = lower_ns;
        v->result->bound_ns = mo_max_i64(v->result->bound_ns, lower_ns);
    }
    return status;
}

static mo_status open_chain(verifier *v, mo_error *err)
{
    const char *fault = NULL;
    mo_status status =
        mo_proof_chain_open(&v->chain, v->x, &v->regime, v->proof, &fault, err);

    if (status == MO_OK && fault)
        reject(v, NULL, fault, 0);
    if (status == MO_OK && v->chain.chain.n > 0)
        status = mo_proof_chain_fill(&v->chain, err);
    if (status == MO_OK)
        status = mo_bound_segments_new(&v->chain.domains, &v->segments, err);
    if (status == MO_OK)
        mo_bound_segments_set_stop(v->segments, v->stop);
    return status;
}

mo_status mo_proof_verify(const mo_proof_scope *scope, const mo_proof *proof,
                          const mo_proof_rules *rules, const mo_stop *stop,
                          int64_t *held, mo_proof_result *result, mo_error *err)
{
    verifier v = { .scope = scope,
                   .x = scope->x,
                   .regime = scope->regime,
                   .proof = proof,
                   .rules = rules,
                   .stop = stop,
                   .held = held,
                   .result = result };
    mo_status status = MO_OK;

    *result = (mo_proof_result){ 0 };
    for (size_t i = 0; i < proof->n && held; i++)
        held[i] = 0;
    if (proof->digest != mo_proof_digest(scope)) {
        reject(&v, NULL, "the certificate is of another instance", 0);
        return MO_OK;
    }
    if (proof->unlimited)
        v.regime.memory = MO_MEMORY_NONE;
    if (scope->objective == MO_OBJECTIVE_LATENCY)
        status = open_chain(&v, err);
    if (status == MO_OK)
        status = verify_entries(&v, err);
    if (status == MO_OK && result->bound_ns < proof->bound_ns)
        reject(&v, NULL, "its entries prove less than it claims", 0);
    mo_bound_segments_free(v.segments);
    mo_proof_chain_clear(&v.chain);
    return status;
}

/* Selection of the entries on shortest paths. */
typedef struct selection {
    const mo_proof *proof;
    mo_proof_chain *chain;
    bool *needed;
    size_t *order; /* entries of the tables by place, ... */
    size_t n;
    bool any; /* a value was raised */
} selection;

static int compare_places(const mo_proof_entry *a, const mo_proof_entry *b)
{
    const int of_a[] = { mo_proof_is_span(a->kind), a->first, a->last, a->a,
                         a->b },
              of_b[] = { mo_proof_is_span(b->kind), b->first, b->last, b->a,
                         b->b };

    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* Returns the position in order of the first entry that is not before e. */
static size_t find_place(const selection *s, const mo_proof_entry *e)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_places(&s->proof->entries[s->order[middle]], e) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void select_entry(void *context, bool is_span, int first, int last,
                         int a, int b)
{
    selection *s = context;
    const mo_proof_entry key = { .kind =
                                     is_span ? MO_PROOF_SPAN : MO_PROOF_TEST,
                                 .first = first,
                                 .last = last,
                                 .a = a,
                                 .b = b };

    for (size_t i = find_place(s, &key);
         i < s->n && compare_places(&s->proof->entries[s->order[i]], &key) == 0;
         i++) {
        const mo_proof_entry *e = &s->proof->entries[s->order[i]];
        int64_t *at = mo_proof_chain_at(s->chain, e);

        if (e->value_ns <= *at)
            continue;
        *at = e->value_ns;
        s->needed[s->order[i]] = s->any = true;
    }
}

/* Sorts by merging: places, and the greatest value first. */
static void sort_places(const mo_proof *proof, size_t *order, size_t *buffer,
                        size_t n)
{
    size_t half = n / 2, i = 0, j = half;

    if (n < 2)
        return;
    sort_places(proof, order, buffer, half);
    sort_places(proof, order + half, buffer, n - half);
    memcpy(buffer, order, n * sizeof *order);
    for (size_t k = 0; k < n; k++) {
        bool second = i == half;

        if (!second && j < n) {
            const mo_proof_entry *a = &proof->entries[buffer[i]],
                                 *b = &proof->entries[buffer[j]];
            int order_of = compare_places(a, b);

            second =
                order_of > 0 || (order_of == 0 && b->value_ns > a->value_ns);
        }
        order[k] = second ? buffer[j++] : buffer[i++];
    }
}

/* Raises the entries on the shortest path until it is as long as with all of
 * them. */
static int64_t lengthen(selection *s)
{
    int64_t length_ns;

    do {
        s->any = false;
        length_ns = mo_proof_chain_shortest(s->chain);
        mo_proof_chain_walk(s->chain, select_entry, s);
    } while (s->any);
    return length_ns;
}

/* Cases use all tables of their segments. */
static void select_inner(selection *s, const mo_proof_entry *cases)
{
    const mo_bound_segment_classes *classes = s->chain->classes;

    for (size_t i = 0; i < s->proof->n; i++) {
        const mo_proof_entry *e = &s->proof->entries[i];

        for (int j = cases->first;
             j <= cases->last && !mo_proof_is_span(e->kind) &&
             !mo_proof_is_whole(e->kind);
             j++)
            if (classes->first[classes->of[j]] == e->first)
                s->needed[i] = true;
    }
}

mo_status mo_proof_select(const mo_instance *x, const mo_regime *regime,
                          const mo_proof *proof, bool *needed,
                          int64_t *bound_ns, mo_error *err)
{
    mo_proof_chain chain = { 0 };
    selection s = { .proof = proof, .chain = &chain, .needed = needed };
    mo_regime used = *regime;
    const char *fault = NULL;
    size_t *buffer = calloc(proof->n + 1, sizeof *buffer);
    mo_status status;

    s.order = calloc(proof->n + 1, sizeof *s.order);
    *bound_ns = 0;
    if (proof->unlimited)
        used.memory = MO_MEMORY_NONE;
    status = s.order && buffer
                 ? mo_proof_chain_open(&chain, x, &used, proof, &fault, err)
                 : mo_fail_memory(err);
    if (status == MO_OK && chain.chain.n > 0)
        status = mo_proof_chain_fill(&chain, err);
    for (size_t i = 0; i < proof->n && status == MO_OK; i++) {
        needed[i] = mo_proof_is_whole(proof->entries[i].kind);
        if (needed[i])
            *bound_ns = mo_max_i64(*bound_ns, proof->entries[i].value_ns);
        else if (mo_proof_chain_has(&chain, &proof->entries[i]))
            s.order[s.n++] = i;
    }
    if (status == MO_OK && chain.chain.n > 0) {
        sort_places(proof, s.order, buffer, s.n);
        *bound_ns = mo_max_i64(*bound_ns, lengthen(&s));
    }
    for (size_t i = 0; i < proof->n && status == MO_OK; i++)
        if (needed[i] && proof->entries[i].kind == MO_PROOF_CASES)
            select_inner(&s, &proof->entries[i]);
    free(buffer);
    free(s.order);
    mo_proof_chain_clear(&chain);
    return status;
}
