/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/compact/transfer_items.h: candidate transfers, their arcs
 * and windows. */
#include "models/compact/transfer_items.h"

#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

#define CLUSTER "A; B; C; A-B gbps=8; B-C gbps=8; A-C gbps=8"

/* Times that leave every placement within the horizon. */
#define LOOSE                                                                  \
    "* t.A=1 t.B=1 t.C=1; *>* c.A.B=0 c.A.C=0 c.B.A=0 c.B.C=0 c.C.A=0 "        \
    "c.C.B=0; "

typedef struct made {
    problem p;
    mo_frame *frame;
    mo_transfer_items *items;
} made;

static void make(made *m, const char *graph, mo_congestion congestion,
                 mo_tensors tensors)
{
    mo_regime regime = { congestion, tensors, MO_MEMORY_STATIC };

    *m = (made){ 0 };
    problem_make(&m->p, graph, CLUSTER, NULL);
    MUST(mo_frame_make(m->p.x, &regime, false, &m->frame, &err));
    MUST(mo_transfer_items_make(m->frame, &m->items, &err));
}

static void clear(made *m)
{
    mo_transfer_items_free(m->items);
    mo_frame_free(m->frame);
    problem_clear(&m->p);
}

static const struct {
    const char *graph;
    mo_congestion congestion;
    mo_tensors tensors;
    int n_items, n_arcs;
} counts[] = {
    /* A copy for each reader. */
    { LOOSE "a; b; c; a>b; a>c", MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, 2,
      18 },
    /* One for each device, from any. */
    { LOOSE "a; b; c; a>b; a>c", MO_CONGESTION_PORT, MO_TENSORS_ONCE, 3, 9 },
    { LOOSE "a; b; c; a>b; a>c", MO_CONGESTION_NONE, MO_TENSORS_ONCE, 2, 18 },
    /* Only one of the readers can be elsewhere. */
    { LOOSE "a colocate=g; b colocate=g; c; a>b; a>c", MO_CONGESTION_PORT,
      MO_TENSORS_ONCE, 1, 9 },
    { LOOSE "a pin=A; b pin=A; a>b", MO_CONGESTION_PORT, MO_TENSORS_ONCE, 0,
      0 },
    { LOOSE "a pin=A; b pin=A; a>b", MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, 1,
      0 },
    /* Pinned ends leave one arc, shared by two flows. */
    { LOOSE "a pin=A; b pin=B; a>b src_port=0; a>b src_port=1",
      MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, 2, 1 },
};

START_TEST(there_are_as_many_as_can_be_sent)
{
    made m;

    make(&m, counts[_i].graph, counts[_i].congestion, counts[_i].tensors);
    ck_assert_int_eq(m.items->n, counts[_i].n_items);
    ck_assert_int_eq(m.items->n_arcs, counts[_i].n_arcs);
    clear(&m);
}
END_TEST

START_TEST(ways_that_take_too_long_are_left_out)
{
    made m;

    make(&m,
         "* t.A=10 t.B=10 t.C=10; a; b; "
         "a>b c.A.B=99 c.A.C=99 c.B.A=99 c.B.C=99 c.C.A=99 c.C.B=99",
         MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE);
    ck_assert_int_eq(m.items->n_arcs, 3);
    ck_assert(!m.items->items[0].may_be_sent);
    ck_assert(!m.items->items[0].never_sent);
    ck_assert_int_eq(m.items->items[0].n_uses, 0);
    clear(&m);
}
END_TEST

START_TEST(a_use_spans_the_ways_that_need_it)
{
    const int64_t us = 1000;
    const mo_transfer_use *egress;
    made m;

    make(&m,
         "a t.A=10 t.B=10 t.C=10 pin=A; b t.A=10 t.B=10 t.C=30; c t.A=90 "
         "t.B=90 t.C=90; a>b c.A.B=5 c.A.C=7 c.B.A=0 c.B.C=0 c.C.A=0 c.C.B=0",
         MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE);
    egress = &m.items->uses[m.items->items[0].use_start];
    ck_assert_int_eq(m.items->items[0].n_uses, 3);
    ck_assert_int_eq(egress->resource, mo_transfer_items_egress(m.frame, 0));
    ck_assert_int_eq(egress[1].resource, mo_transfer_items_ingress(m.frame, 1));
    ck_assert_int_eq(egress[2].resource, mo_transfer_items_ingress(m.frame, 2));
    ck_assert_int_eq(egress->start_min_ns, 10 * us);
    ck_assert_int_eq(egress->end_min_ns, 15 * us);
    ck_assert_int_eq(egress[2].end_min_ns, 17 * us);
    ck_assert_int_eq(egress->end_max_ns, m.frame->horizon_ns - 10 * us);
    ck_assert_int_eq(egress[2].end_max_ns, m.frame->horizon_ns - 30 * us);
    clear(&m);
}
END_TEST

/* Each transfer of the heuristic is on an arc, within the item's window. */
static void check_transfer(const mo_transfer_items *items, const mo_transfer *t,
                           unsigned seed)
{
    for (int i = 0; i < items->n; i++) {
        const mo_transfer_item *item = &items->items[i];

        for (int e = 0; e < item->n_arcs && item->number == t->item; e++) {
            mo_transfer_arc arc = items->arcs[item->arc_start + e];

            if (arc.a == t->from && arc.b == t->to &&
                item->start_min_ns <= t->start_ns &&
                t->end_ns <= item->end_max_ns)
                return;
        }
    }
    ck_abort_msg("seed %u: no item for what is sent of %d from %d to %d", seed,
                 t->item, t->from, t->to);
}

START_TEST(whatever_is_sent_is_an_item)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        mo_regime regime = { (mo_congestion) (seed % 4),
                             (mo_tensors) (seed / 4 % 2), MO_MEMORY_STATIC };
        problem p = { 0 };
        random_problem r;
        mo_frame *frame;
        mo_transfer_items *items;

        random_problem_make(&r, seed);
        problem_make(&p, r.graph, r.cluster, NULL);
        random_problem_clear(&r);
        MUST(mo_frame_make(p.x, &regime, false, &frame, &err));
        MUST(mo_transfer_items_make(frame, &items, &err));
        for (int t = 0; frame->start && t < frame->start->n_transfers; t++)
            check_transfer(items, &frame->start->transfers[t], seed);
        mo_transfer_items_free(items);
        mo_frame_free(frame);
        problem_clear(&p);
    }
}
END_TEST

SUITE(transfer_items)
{
    EACH(there_are_as_many_as_can_be_sent, COUNT(counts));
    TEST(ways_that_take_too_long_are_left_out);
    TEST(a_use_spans_the_ways_that_need_it);
    TEST(whatever_is_sent_is_an_item);
}
