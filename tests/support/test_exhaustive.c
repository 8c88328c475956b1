/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of tests/support/exhaustive.h: known optima, and a simpler exhaustive
 * search. */
#include "tests/support/exhaustive.h"

#include <string.h>

#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

/* One op sends to two others, on devices of their own: the example where the
 * paper's text and its inequalities differ. */
static const char fork_graph[] =
    "* t.A=1 t.B=1 t.C=1; *>* c.A.B=4 c.A.C=4 c.B.A=4 c.B.C=4 c.C.A=4 c.C.B=4;"
    "a pin=A; b pin=B; c pin=C; a>b; a>c";

/* Two ops read one tensor on another device. */
static const char twice_graph[] =
    "* t.A=1 t.B=1; *>* c.A.B=4 c.B.A=4; a pin=A; b pin=B; c pin=B; a>b; a>c";

static const struct {
    const char *graph, *cluster;
    mo_regime regime;
    int64_t optimum_us;
} cases[] = {
    { fork_graph, "A; B; C", { MO_CONGESTION_PORT, 0, 0 }, 10 },
    { fork_graph, "A; B; C", { MO_CONGESTION_CHANNEL, 0, 0 }, 6 },
    { fork_graph, "A; B; C", { MO_CONGESTION_LINK, 0, 0 }, 6 },
    { fork_graph, "A; B; C", { MO_CONGESTION_NONE, 0, 0 }, 6 },
    { twice_graph, "A; B", { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, 0 }, 10 },
    { twice_graph, "A; B", { MO_CONGESTION_PORT, MO_TENSORS_ONCE, 0 }, 7 },
    { twice_graph, "A; B", { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, 0 }, 7 },
    /* Over the same link of 8 Gb/s, 4000 bytes each: 4 us. */
    { "* t.A=1 t.B=1 t.C=1; a pin=A; b pin=B; c pin=C; a>b bytes=4000;"
      "a>c bytes=4000",
      "A; B; C; A-B gbps=8; B-C gbps=8",
      { MO_CONGESTION_LINK, 0, 0 },
      10 },
    /* What takes no time waits for the device all the same. */
    { "a t.A=5 pin=A; b t.A=0 t.B=3 pin=A; c t.A=3 t.B=3 pin=B; d t.A=0 t.B=0 "
      "pin=B; *>* c.A.B=0 c.B.A=0; c>b; b>d",
      "A; B",
      { MO_CONGESTION_PORT, 0, 0 },
      5 },
    /* Memory: both on the fast device, or one on each. */
    { "a t.A=1 t.B=9 memory=5; b t.A=1 t.B=9 memory=5",
      "A memory_bytes=10; B memory_bytes=10",
      { 0, 0, MO_MEMORY_STATIC },
      2 },
    { "a t.A=1 t.B=9 memory=5; b t.A=1 t.B=9 memory=5",
      "A memory_bytes=9; B memory_bytes=10",
      { 0, 0, MO_MEMORY_STATIC },
      9 },
    { "a t.A=1 t.B=9 memory=5; b t.A=1 t.B=9 memory=5",
      "A memory_bytes=9; B memory_bytes=10",
      { 0, 0, MO_MEMORY_NONE },
      2 },
};

START_TEST(small_problems_have_known_optima)
{
    problem p = { 0 };

    problem_make(&p, cases[_i].graph, cases[_i].cluster, NULL);
    ck_assert_int_eq(exhaustive_optimum(p.x, &cases[_i].regime),
                     1000 * cases[_i].optimum_us);
    problem_clear(&p);
}
END_TEST

START_TEST(what_fits_nowhere_has_none)
{
    mo_regime regime = { .memory = MO_MEMORY_STATIC };
    problem p = { 0 };

    problem_make(&p, "* t.A=1 t.B=1; a memory=5; b memory=5; c memory=5",
                 "A memory_bytes=9; B memory_bytes=9", NULL);
    ck_assert_int_eq(exhaustive_optimum(p.x, &regime), EXHAUSTIVE_NONE);
    regime.memory = MO_MEMORY_NONE;
    ck_assert_int_eq(exhaustive_optimum(p.x, &regime), 2000);
    problem_clear(&p);
}
END_TEST

/*
 * The simpler search: a sequence of all ops and transfers, each of which
 * starts when its inputs have ended and when nothing earlier in the sequence
 * that conflicts with it is busy any more.  All sequences of all placements.
 */
typedef struct job {
    int op;       /* or, for a transfer, -1 */
    int source;   /* of a transfer: its producer */
    int item;     /* its flow or tensor */
    int from, to; /* devices; of an op, both its own */
    int64_t length_ns, end_ns;
} job;

enum { MAX_JOBS = 32 };

typedef struct dumb {
    const mo_instance *x;
    const mo_regime *regime;
    int device[8];
    job jobs[MAX_JOBS];
    int n;
    int sequence[MAX_JOBS];
    bool is_done[MAX_JOBS];
    int64_t best_ns;
} dumb;

static int item_of(const dumb *d, int flow)
{
    return d->regime->tensors == MO_TENSORS_ONCE ? d->x->flows[flow].tensor
                                                 : flow;
}

static bool shares_link(const mo_instance *x, const job *a, const job *b)
{
    int n_one, n_other;
    const int *one = mo_instance_route(x, a->from, a->to, &n_one);
    const int *other = mo_instance_route(x, b->from, b->to, &n_other);

    for (int i = 0; i < n_one; i++)
        for (int j = 0; j < n_other; j++)
            if (one[i] == other[j])
                return true;
    return false;
}

static bool collide(const dumb *d, const job *a, const job *b)
{
    if (a->op >= 0 || b->op >= 0)
        return a->op >= 0 && b->op >= 0 && a->from == b->from;
    switch (d->regime->congestion) {
    case MO_CONGESTION_PORT:
        return a->from == b->from || a->to == b->to;
    case MO_CONGESTION_CHANNEL:
        return a->from == b->from && a->to == b->to;
    case MO_CONGESTION_LINK:
        return shares_link(d->x, a, b);
    default:
        return false;
    }
}

/* Returns whether b has to wait for a, in any order. */
static bool needs(const dumb *d, const job *b, const job *a)
{
    if (b->op < 0)
        return a->op == b->source;
    for (int q = 0; q < d->x->n_flows; q++)
        if (d->x->flows[q].to == b->op &&
            (a->op == d->x->flows[q].from ||
             (a->op < 0 && a->item == item_of(d, q) && a->to == b->to)))
            return true;
    return false;
}

static bool is_ready(const dumb *d, int number)
{
    for (int i = 0; i < d->n; i++)
        if (!d->is_done[i] && needs(d, &d->jobs[number], &d->jobs[i]))
            return false;
    return true;
}

static int64_t end_of(const dumb *d, const job *next, int n_done)
{
    int64_t start = 0;

    for (int i = 0; i < n_done; i++) {
        const job *before = &d->jobs[d->sequence[i]];

        if ((collide(d, before, next) || needs(d, next, before)) &&
            before->end_ns > start)
            start = before->end_ns;
    }
    return start + next->length_ns;
}

static void try_sequences(dumb *d, int n_done, int64_t latest)
{
    if (n_done == d->n && latest < d->best_ns)
        d->best_ns = latest;
    for (int i = 0; i < d->n; i++) {
        int64_t end;

        if (d->is_done[i] || !is_ready(d, i))
            continue;
        end = d->jobs[i].end_ns = end_of(d, &d->jobs[i], n_done);
        d->sequence[n_done] = i;
        d->is_done[i] = true;
        try_sequences(d, n_done + 1, end > latest ? end : latest);
        d->is_done[i] = false;
    }
}

static void add_job(dumb *d, const job *added)
{
    for (int i = 0; i < d->n; i++)
        if (added->op < 0 && d->jobs[i].op < 0 &&
            d->jobs[i].item == added->item && d->jobs[i].to == added->to)
            return;
    ck_assert_int_lt(d->n, MAX_JOBS);
    d->jobs[d->n++] = *added;
}

static void add_jobs(dumb *d)
{
    const mo_instance *x = d->x;

    d->n = 0;
    for (int i = 0; i < x->n; i++)
        add_job(d, &(job){ .op = i,
                           .from = d->device[i],
                           .to = d->device[i],
                           .length_ns = mo_instance_p_ns(x, i, d->device[i]) });
    for (int q = 0; q < x->n_flows; q++) {
        job sent = { .op = -1,
                     .source = x->flows[q].from,
                     .item = item_of(d, q),
                     .from = d->device[x->flows[q].from],
                     .to = d->device[x->flows[q].to] };

        sent.length_ns =
            d->regime->tensors == MO_TENSORS_ONCE
                ? mo_instance_tensor_ns(x, sent.item, sent.from, sent.to)
                : mo_instance_flow_ns(x, q, sent.from, sent.to);
        if (sent.from != sent.to)
            add_job(d, &sent);
    }
}

static bool is_allowed(const dumb *d)
{
    const mo_instance *x = d->x;

    for (int i = 0; i < x->n; i++) {
        int64_t beside = 0;

        if (x->pin[i] != MO_FREE && x->pin[i] != d->device[i])
            return false;
        for (int j = 0; j < x->n; j++) {
            bool is_beside = d->device[i] == d->device[j];

            if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
                !is_beside)
                return false;
            beside += is_beside ? x->memory_bytes[j] : 0;
        }
        if (d->regime->memory == MO_MEMORY_STATIC &&
            beside > x->capacity_bytes[d->device[i]])
            return false;
    }
    return true;
}

static int64_t dumb_optimum(const mo_instance *x, const mo_regime *regime)
{
    dumb d = { .x = x, .regime = regime, .best_ns = INT64_MAX };
    int n_placements = 1;

    for (int i = 0; i < x->n; i++)
        n_placements *= x->n_devices;
    for (int number = 0; number < n_placements; number++) {
        for (int i = 0, rest = number; i < x->n; i++, rest /= x->n_devices)
            d.device[i] = rest % x->n_devices;
        if (!is_allowed(&d))
            continue;
        add_jobs(&d);
        try_sequences(&d, 0, 0);
    }
    return d.best_ns == INT64_MAX ? EXHAUSTIVE_NONE : d.best_ns;
}

/* The largest have too many sequences. */
static bool is_tiny(const mo_instance *x)
{
    return x->n + x->n_flows <= 7;
}

static int check_regimes(unsigned seed, const mo_instance *x)
{
    int n = 0;

    for (int c = MO_CONGESTION_PORT; c <= MO_CONGESTION_NONE; c++)
        for (int t = MO_TENSORS_PER_EDGE; t <= MO_TENSORS_ONCE; t++) {
            mo_regime regime = { (mo_congestion) c, (mo_tensors) t,
                                 (n++ / 3) % 2 ? MO_MEMORY_STATIC
                                               : MO_MEMORY_NONE };
            int64_t optimum = exhaustive_optimum(x, &regime);
            int64_t wanted = dumb_optimum(x, &regime);

            ck_assert_msg(optimum == wanted,
                          "seed %u, %d %d %d: %lld, not %lld", seed, c, t,
                          (int) regime.memory, (long long) optimum,
                          (long long) wanted);
        }
    return n;
}

START_TEST(all_sequences_find_nothing_better)
{
    int n = 0;

    for (unsigned seed = (unsigned) _i; seed < 200; seed += 4) {
        random_problem r;
        problem p = { 0 };

        random_problem_sized(&r, seed, 3, 4);
        problem_make(&p, r.graph, r.cluster, NULL);
        if (is_tiny(p.x))
            n += check_regimes(seed, p.x);
        problem_clear(&p);
        random_problem_clear(&r);
    }
    ck_assert_int_gt(n, 200);
}
END_TEST

SUITE(exhaustive)
{
    EACH(small_problems_have_known_optima, COUNT(cases));
    TEST(what_fits_nowhere_has_none);
    EACH(all_sequences_find_nothing_better, 4);
}
