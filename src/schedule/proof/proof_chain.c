/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/proof/proof_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/schedule.h"

enum { MAX_DEVICES = 64 };

void mo_proof_chain_clear(mo_proof_chain *c)
{
    for (int i = 0; c->tables && i < c->classes->n; i++)
        free(c->tables[i]);
    free(c->tables);
    for (size_t i = 0; i < c->n_span_classes; i++) {
        free(c->span_classes[i].ops);
        free(c->span_classes[i].own_ns);
    }
    free(c->span_classes);
    free(c->spans);
    mo_bound_segment_classes_free(c->classes);
    free(c->domains.allowed);
    free(c->chain.segments);
    free(c->chain.ops);
    free(c->ready_ns);
    free(c->inner_ns);
    free(c->next_ns);
    free(c->from);
    free(c->back);
}

/*
 * Appends the ops between u and v to ops, in ascending order: those that
 * succeed u and precede v (MO_FREE: all).  Returns their number, -1 where u
 * does not precede v.  mark is by op.
 */
static int collect_between(const mo_instance *x, int u, int v, char *mark,
                           int *ops)
{
    int first = u == MO_FREE ? 0 : u, last = v == MO_FREE ? x->n - 1 : v;
    bool connected = u == MO_FREE || v == MO_FREE;
    int n = 0;

    /* Bit 1: u or a successor of it; bit 2: v or a predecessor. */
    for (int i = first; i <= last; i++) {
        mark[i] = u == MO_FREE || i == u;
        for (int e = x->in_start[i]; e < x->in_start[i + 1] && !mark[i]; e++) {
            int from = x->flows[x->in_flows[e]].from;

            mark[i] = from >= first && (mark[from] & 1);
        }
    }
    for (int i = last; i >= first; i--) {
        bool before = v == MO_FREE || i == v;

        for (int q = x->out_start[i]; q < x->out_start[i + 1] && !before; q++)
            before = x->flows[q].to <= last && (mark[x->flows[q].to] & 2);
        mark[i] = (char) (mark[i] | (before ? 2 : 0));
    }
    connected = connected || (mark[v] & 1);
    for (int i = first; i <= last; i++)
        if (mark[i] == 3 && i != u && i != v)
            ops[n++] = i;
    return connected ? n : -1;
}

static bool is_chain(const mo_instance *x, const mo_proof *proof)
{
    for (size_t i = 0; i < proof->n_chain; i++)
        if (proof->chain[i] < 0 || proof->chain[i] >= x->n ||
            (i > 0 && proof->chain[i] <= proof->chain[i - 1]))
            return false;
    return true;
}

static mo_status find_segments(mo_proof_chain *c, const mo_proof *proof,
                               const char **fault, mo_error *err)
{
    const mo_instance *x = c->domains.x;
    int n = (int) proof->n_chain + 1, n_ops = 0;
    char *mark = calloc((size_t) x->n + 1, 1);

    c->chain.segments = calloc((size_t) n, sizeof *c->chain.segments);
    c->chain.ops = calloc((size_t) x->n + 1, sizeof *c->chain.ops);
    if (!mark || !c->chain.segments || !c->chain.ops) {
        free(mark);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < n && !*fault; i++) {
        mo_bound_segment *s = &c->chain.segments[i];

        s->u = i == 0 ? MO_FREE : proof->chain[i - 1];
        s->v = i == n - 1 ? MO_FREE : proof->chain[i];
        s->ops = c->chain.ops + n_ops;
        s->n = collect_between(x, s->u, s->v, mark, c->chain.ops + n_ops);
        if (s->n < 0)
            *fault = "an op of its chain does not precede the next";
        n_ops += s->n;
    }
    c->chain.n = *fault ? 0 : n;
    free(mark);
    return MO_OK;
}

/* Equal spans have segments of the same classes between their ends, unless
 * these differ in the numbers of groups. */
static bool may_match(const mo_proof_chain *c, int first, int other, int n)
{
    for (int i = 1; i + 1 < n && c->domains.x->n_groups == 0; i++)
        if (c->classes->of[first + i] != c->classes->of[other + i])
            return false;
    for (int i = 0; i < n; i++) {
        const mo_bound_segment *s = &c->chain.segments[first + i],
                               *t = &c->chain.segments[other + i];

        if (s->n != t->n || (s->u == MO_FREE) != (t->u == MO_FREE) ||
            (s->v == MO_FREE) != (t->v == MO_FREE))
            return false;
    }
    return true;
}

/* The caller frees *ops, those of the span. */
static mo_status collect_span(const mo_proof_chain *c, int first, int last,
                              char *mark, mo_bound_segment *whole, int **ops,
                              mo_error *err)
{
    const mo_bound_segment *from = &c->chain.segments[first],
                           *to = &c->chain.segments[last];
    int low = from->u == MO_FREE ? 0 : from->u,
        high = to->v == MO_FREE ? c->domains.x->n : to->v;

    *ops = malloc(((size_t) (high - low) + 1) * sizeof **ops);
    if (!*ops)
        return mo_fail_memory(err);
    *whole = (mo_bound_segment){ from->u, to->v, *ops, 0 };
    whole->n = collect_between(c->domains.x, from->u, to->v, mark, *ops);
    return MO_OK;
}

/* Adds a class and all spans of the chain that equal its first. */
static mo_status add_span_class(mo_proof_chain *c, int first, int last,
                                char *mark, mo_error *err)
{
    size_t K = (size_t) c->domains.x->n_devices;
    int n = last - first + 1;
    mo_segment_classifier *classifier = NULL;
    mo_proof_span_class *cls;
    mo_status status = MO_ARRAY_GROW(c->span_classes, c->n_span_classes,
                                     c->span_classes_room, err);
    if (status != MO_OK)
        return status;
    cls = &c->span_classes[c->n_span_classes++];
    *cls = (mo_proof_span_class){ .own_ns = calloc(K * K, sizeof(int64_t)) };
    if (!cls->own_ns)
        return mo_fail_memory(err);
    status = collect_span(c, first, last, mark, &cls->whole, &cls->ops, err);
    if (status == MO_OK)
        status =
            mo_segment_classifier_new(MO_SEGMENT_SCHEDULES, &classifier, err);
    for (int i = first; i + n <= c->chain.n && status == MO_OK; i++) {
        mo_bound_segment other;
        int number = 0, *ops = NULL;

        if (!may_match(c, first, i, n))
            continue;
        status = collect_span(c, i, i + n - 1, mark, &other, &ops, err);
        if (status == MO_OK) {
            status = mo_segment_classifier_add(classifier, &c->domains, &other,
                                               &number, err);
        }
        free(ops);
        if (status == MO_OK && number == 0)
            status = MO_ARRAY_GROW(c->spans, c->n_spans, c->spans_room, err);
        if (status == MO_OK && number == 0)
            c->spans[c->n_spans++] =
                (mo_proof_span){ i, i + n - 1, (int) c->n_span_classes - 1 };
    }
    mo_segment_classifier_free(classifier);
    return status;
}

static int find_span(const mo_proof_chain *c, int first, int last)
{
    for (size_t i = c->n_spans; i-- > 0;)
        if (c->spans[i].first == first && c->spans[i].last == last)
            return (int) i;
    return -1;
}

static int compare_spans(const void *a, const void *b)
{
    const mo_proof_span *s = a, *t = b;

    if (s->last != t->last)
        return s->last < t->last ? -1 : 1;
    return (s->first > t->first) - (s->first < t->first);
}

static mo_status find_spans(mo_proof_chain *c, const mo_proof *proof,
                            const char **fault, mo_error *err)
{
    char *mark = calloc((size_t) c->domains.x->n + 1, 1);
    mo_status status = mark ? MO_OK : mo_fail_memory(err);

    for (size_t i = 0; i < proof->n && status == MO_OK && !*fault; i++) {
        const mo_proof_entry *e = &proof->entries[i];

        if (!mo_proof_is_span(e->kind) || find_span(c, e->first, e->last) >= 0)
            continue;
        if (e->last >= c->chain.n)
            *fault = "a span has more segments than its chain";
        else
            status = add_span_class(c, e->first, e->last, mark, err);
    }
    if (c->n_spans > 1)
        qsort(c->spans, c->n_spans, sizeof *c->spans, compare_spans);
    free(mark);
    return status;
}

static mo_status allocate_tables(mo_proof_chain *c, mo_error *err)
{
    size_t K = (size_t) c->domains.x->n_devices, n = (size_t) c->chain.n + 1;

    c->tables = calloc((size_t) c->classes->n + 1, sizeof *c->tables);
    c->ready_ns = calloc(n, K * sizeof *c->ready_ns);
    c->inner_ns = calloc(K, K * sizeof *c->inner_ns);
    c->next_ns = calloc(K, sizeof *c->next_ns);
    c->from = calloc(n, K);
    c->back = calloc(n, K * sizeof *c->back);
    if (!c->tables || !c->ready_ns || !c->inner_ns || !c->next_ns || !c->from ||
        !c->back)
        return mo_fail_memory(err);
    for (int i = 0; i < c->classes->n; i++) {
        c->tables[i] = calloc(K, K * sizeof **c->tables);
        if (!c->tables[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_proof_chain_open(mo_proof_chain *c, const mo_instance *x,
                              const mo_regime *regime, const mo_proof *proof,
                              const char **fault, mo_error *err)
{
    size_t size;
    mo_status status;

    c->domains = (mo_allowed_devices){ x, *regime, NULL };
    if (mo_size_mul((size_t) x->n + 1, (size_t) x->n_devices, &size))
        c->domains.allowed = calloc(size, sizeof *c->domains.allowed);
    if (!c->domains.allowed)
        return mo_fail_memory(err);
    status = mo_allowed_devices_find(&c->domains, err);
    *fault = is_chain(x, proof) ? NULL
                                : "its chain has ops that the instance has not";
    if (x->n_devices > MAX_DEVICES)
        *fault = "it is for too many devices";
    if (status == MO_OK && !*fault)
        status = find_segments(c, proof, fault, err);
    if (status == MO_OK && !*fault)
        status = mo_bound_segment_classes_find(&c->domains, &c->chain,
                                               &c->classes, err);
    if (status == MO_OK && !*fault)
        status = find_spans(c, proof, fault, err);
    if (status == MO_OK && !*fault)
        status = allocate_tables(c, err);
    if (*fault) {
        c->chain.n = 0;
        c->n_spans = 0;
    }
    return status;
}

static bool is_allowed(const mo_proof_chain *c, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(&c->domains, op, device);
}

/* The flows from u to v with no op between them: their sum if they share a
 * resource, otherwise the longest; of a tensor that is sent once one counts. */
static int64_t direct_ns(const mo_proof_chain *c, const mo_bound_segment *s,
                         int a, int b)
{
    const mo_instance *x = c->domains.x;
    const mo_regime *regime = &c->domains.regime;
    bool once = regime->tensors == MO_TENSORS_ONCE;
    int64_t sum = 0, longest = 0;
    int last = -1, n_links = 1;

    if (s->u == MO_FREE || s->v == MO_FREE || a == b)
        return 0;
    for (int q = x->out_start[s->u]; q < x->out_start[s->u + 1]; q++) {
        int64_t ns;

        if (x->flows[q].to != s->v || (once && x->flows[q].tensor == last))
            continue;
        last = x->flows[q].tensor;
        ns = mo_schedule_flow_ns(x, regime, q, a, b);
        sum += ns;
        longest = mo_max_i64(longest, ns);
    }
    if (regime->congestion == MO_CONGESTION_LINK)
        mo_instance_route(x, a, b, &n_links);
    return regime->congestion != MO_CONGESTION_NONE && n_links > 0 ? sum
                                                                   : longest;
}

/* Whether the ends of a segment are on one device, as ops of one group are. */
static bool is_colocated(const mo_instance *x, const mo_bound_segment *s)
{
    return s->u != MO_FREE && s->v != MO_FREE && x->group[s->u] != MO_FREE &&
           x->group[s->u] == x->group[s->v];
}

mo_status mo_proof_chain_fill(mo_proof_chain *c, mo_error *err)
{
    int K = c->domains.x->n_devices;
    mo_bound_segments *segments = NULL;
    mo_status status = mo_bound_segments_new(&c->domains, &segments, err);

    for (int i = 0; i < c->classes->n && status == MO_OK; i++) {
        const mo_bound_segment *s = &c->chain.segments[c->classes->first[i]];

        if (s->n > 0)
            mo_bound_segments_paths(segments, s, c->tables[i]);
        for (int p = 0; p < K * K && s->n == 0; p++)
            if (is_allowed(c, s->u, p / K) && is_allowed(c, s->v, p % K))
                c->tables[i][p] = direct_ns(c, s, p / K, p % K);
        for (int p = 0; p < K * K && is_colocated(c->domains.x, s); p++)
            if (p / K != p % K)
                c->tables[i][p] = MO_PROOF_NEVER_NS;
    }
    mo_bound_segments_free(segments);
    return status;
}

bool mo_proof_chain_has(const mo_proof_chain *c, const mo_proof_entry *e)
{
    int K, at;

    /* A period has no chain. */
    if (e->first >= c->chain.n || e->last >= c->chain.n)
        return false;
    K = c->domains.x->n_devices;
    if (e->a >= K || e->b >= K ||
        !is_allowed(c, c->chain.segments[e->first].u, e->a) ||
        !is_allowed(c, c->chain.segments[e->last].v, e->b))
        return false;
    if (!mo_proof_is_span(e->kind))
        return e->first == e->last &&
               c->classes->first[c->classes->of[e->first]] == e->first;
    at = find_span(c, e->first, e->last);
    return at >= 0;
}

const mo_proof_span_class *mo_proof_chain_span(const mo_proof_chain *c,
                                               const mo_proof_entry *e)
{
    return &c->span_classes[c->spans[find_span(c, e->first, e->last)].cls];
}

int64_t *mo_proof_chain_at(const mo_proof_chain *c, const mo_proof_entry *e)
{
    size_t at = (size_t) (e->a * c->domains.x->n_devices + e->b);

    if (mo_proof_is_span(e->kind))
        return &mo_proof_chain_span(c, e)->own_ns[at];
    return &c->tables[c->classes->of[e->first]][at];
}

/* Adds times that may be MO_PROOF_NEVER_NS. */
static int64_t add_ns(int64_t a, int64_t b)
{
    return mo_min_i64(a + mo_min_i64(b, MO_PROOF_NEVER_NS), MO_PROOF_NEVER_NS);
}

/* Sets end_ns[b], the least end of the v of a segment on b, from begin_ns, that
 * of its u; from[b], unless NULL, is the device of u. */
static void step(const mo_proof_chain *c, int segment, const int64_t *begin_ns,
                 int64_t *end_ns, unsigned char *from)
{
    const mo_bound_segment *s = &c->chain.segments[segment];
    const int64_t *table = c->tables[c->classes->of[segment]];
    int K = c->domains.x->n_devices;

    for (int b = 0; b < K; b++) {
        end_ns[b] = MO_PROOF_NEVER_NS;
        if (from)
            from[b] = 0;
        for (int a = 0; a < K && is_allowed(c, s->v, b); a++) {
            int64_t ns;

            if (begin_ns[a] >= MO_PROOF_NEVER_NS)
                continue;
            ns = add_ns(begin_ns[a], table[a * K + b]);
            if (s->v != MO_FREE)
                ns = add_ns(ns, mo_instance_p_ns(c->domains.x, s->v, b));
            if (ns < end_ns[b]) {
                end_ns[b] = ns;
                if (from)
                    from[b] = (unsigned char) a;
            }
        }
    }
}

/* Fills inner_ns, by boundary: the times of a span from the end of u to that
 * of v by its segments, or as a whole. */
static void fill_inner(const mo_proof_chain *c, const mo_proof_span *span)
{
    const int64_t *own = c->span_classes[span->cls].own_ns;
    int K = c->domains.x->n_devices;
    size_t size = (size_t) K * sizeof(int64_t);

    for (int a = 0; a < K; a++) {
        int64_t *row = c->inner_ns + (size_t) a * (size_t) K;

        for (int k = 0; k < K; k++)
            row[k] =
                k == a && is_allowed(c, c->chain.segments[span->first].u, a)
                    ? 0
                    : MO_PROOF_NEVER_NS;
        for (int s = span->first; s <= span->last; s++) {
            step(c, s, row, c->next_ns, NULL);
            memcpy(row, c->next_ns, size);
        }
        for (int b = 0; b < K; b++)
            row[b] = mo_max_i64(row[b], own[a * K + b]);
    }
}

/* Raises the least ends behind a span by its times. */
static void apply_span(mo_proof_chain *c, const mo_proof_span *span)
{
    int K = c->domains.x->n_devices;
    const int64_t *begin = c->ready_ns + (size_t) span->first * (size_t) K;
    size_t end = (size_t) (span->last + 1) * (size_t) K;

    fill_inner(c, span);
    for (int b = 0; b < K; b++) {
        int64_t least = MO_PROOF_NEVER_NS;
        int at = 0;

        for (int a = 0; a < K; a++) {
            int64_t ns = add_ns(begin[a], c->inner_ns[a * K + b]);

            if (ns < least) {
                least = ns;
                at = a;
            }
        }
        if (least < c->ready_ns[end + (size_t) b])
            continue;
        c->ready_ns[end + (size_t) b] = least;
        c->from[end + (size_t) b] = (unsigned char) at;
        c->back[end + (size_t) b] = span->first;
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const mo_coloc_pair_bound *p = a, *q = b;

    if (p->u != q->u)
        return p->u < q->u ? -1 : 1;
    return (p->v > q->v) - (p->v < q->v);
}

size_t mo_proof_chain_pairs(mo_proof_chain *c, mo_coloc_pair_bound *pairs)
{
    int K = c->domains.x->n_devices;
    size_t n = 0;

    for (int i = 0; i < c->chain.n; i++) {
        const mo_bound_segment *s = &c->chain.segments[i];

        if (s->u != MO_FREE && s->v != MO_FREE)
            pairs[n++] = mo_coloc_pair_bound_of(&c->domains, s->u, s->v,
                                                c->tables[c->classes->of[i]]);
    }
    for (size_t i = 0; i < c->n_spans; i++) {
        int u = c->chain.segments[c->spans[i].first].u,
            v = c->chain.segments[c->spans[i].last].v;

        if (u == MO_FREE || v == MO_FREE ||
            c->spans[i].first == c->spans[i].last)
            continue;
        fill_inner(c, &c->spans[i]);
        /* Until the start of v. */
        for (int p = 0; p < K * K; p++)
            if (c->inner_ns[p] < MO_PROOF_NEVER_NS)
                c->inner_ns[p] -= mo_instance_p_ns(c->domains.x, v, p % K);
        pairs[n++] = mo_coloc_pair_bound_of(&c->domains, u, v, c->inner_ns);
    }
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    return n;
}

int64_t mo_proof_chain_shortest(mo_proof_chain *c)
{
    int K = c->domains.x->n_devices;
    size_t next = 0;

    for (int k = 0; k < K; k++)
        c->ready_ns[k] = k == 0 ? 0 : MO_PROOF_NEVER_NS;
    for (int s = 0; s < c->chain.n; s++) {
        size_t at = (size_t) (s + 1) * (size_t) K;

        step(c, s, c->ready_ns + at - K, c->ready_ns + at, c->from + at);
        for (int k = 0; k < K; k++)
            c->back[at + (size_t) k] = s;
        for (; next < c->n_spans && c->spans[next].last == s; next++)
            apply_span(c, &c->spans[next]);
    }
    return c->ready_ns[(size_t) c->chain.n * (size_t) K];
}

/* The segments of a span on the shortest path from a to b within. */
static void walk_inner(const mo_proof_chain *c, const mo_proof_span *span,
                       int a, int b, mo_proof_visit *visit, void *context)
{
    int K = c->domains.x->n_devices, n = span->last - span->first + 1;
    size_t size = (size_t) K;
    int64_t *row = calloc((size_t) n + 1, size * sizeof *row);
    unsigned char *from = calloc((size_t) n + 1, size);

    for (int k = 0; row && from && k < K; k++)
        row[k] = k == a ? 0 : MO_PROOF_NEVER_NS;
    for (int s = 0; row && from && s < n; s++)
        step(c, span->first + s, row + (size_t) s * size,
             row + (size_t) (s + 1) * size, from + (size_t) (s + 1) * size);
    for (int s = n - 1; row && from && s >= 0; s--) {
        int before = from[(size_t) (s + 1) * size + (size_t) b];
        int first = c->classes->first[c->classes->of[span->first + s]];

        visit(context, false, first, first, before, b);
        b = before;
    }
    free(row);
    free(from);
}

static void walk_span(const mo_proof_chain *c, int span, int a, int b,
                      mo_proof_visit *visit, void *context)
{
    int cls = c->spans[span].cls, first = c->spans[span].first;
    int length = c->spans[span].last - first;

    for (size_t i = 0; i < c->n_spans; i++)
        if (c->spans[i].cls == cls && c->spans[i].first < first)
            first = c->spans[i].first;
    visit(context, true, first, first + length, a, b);
    walk_inner(c, &c->spans[span], a, b, visit, context);
}

void mo_proof_chain_walk(const mo_proof_chain *c, mo_proof_visit *visit,
                         void *context)
{
    size_t K = (size_t) c->domains.x->n_devices;
    int s = c->chain.n, b = 0;

    while (s > 0) {
        size_t at = (size_t) s * K + (size_t) b;
        int a = c->from[at], back = c->back[at];
        int span = find_span(c, back, s - 1);

        if (span >= 0) {
            walk_span(c, span, a, b, visit, context);
        } else {
            int first = c->classes->first[c->classes->of[back]];

            visit(context, false, first, first, a, b);
        }
        s = back;
        b = a;
    }
}
