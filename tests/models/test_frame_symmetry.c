/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/frame/frame.h: interchangeable devices. */
#include "models/frame/frame.h"

#include "tests/models/frame_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { A, B, C };

static const struct {
    const char *graph, *cluster;
    mo_congestion congestion;
    int symmetric_to[4];
} twin_cases[] = {
    { "a t.m=1",
      "A model=m; B model=m; A-B gbps=1",
      MO_CONGESTION_PORT,
      { MO_FREE, A } },
    { "a t.A=1 t.B=2", "A; B", MO_CONGESTION_PORT, { MO_FREE, MO_FREE } },
    { "a t.m=1",
      "A model=m memory_bytes=8; B model=m memory_bytes=9; A-B gbps=1",
      MO_CONGESTION_PORT,
      { MO_FREE, MO_FREE } },
    { "a t.m=1 pin=B",
      "A model=m; B model=m; A-B gbps=1",
      MO_CONGESTION_PORT,
      { MO_FREE, MO_FREE } },
    /* A and C are on either side of B */
    { "* t.m=1; a; b; a>b bytes=1000",
      "A model=m; B model=m; C model=m;"
      "A-B gbps=1 latency_us=1; B-C gbps=1 latency_us=1",
      MO_CONGESTION_PORT,
      { MO_FREE, MO_FREE, A } },
    { "* t.m=1; a; b; a>b bytes=1000",
      "A model=m; B model=m; C model=m;"
      "A-B gbps=1 latency_us=1; B-C gbps=1 latency_us=1",
      MO_CONGESTION_LINK,
      { MO_FREE, MO_FREE, A } },
    { "* t.m=1; a; b; a>b bytes=1000",
      "A model=m; B model=m; C model=m;"
      "A-B gbps=1 latency_us=1; B-C gbps=1 latency_us=2",
      MO_CONGESTION_PORT,
      { MO_FREE, MO_FREE, MO_FREE } },
    /* a directed ring, all equal, but no two are interchangeable */
    { "* t.m=1; a; b; a>b bytes=1000",
      "A model=m; B model=m; C model=m; A>B gbps=1 latency_us=1;"
      "B>C gbps=1 latency_us=1; C>A gbps=1 latency_us=1",
      MO_CONGESTION_NONE,
      { MO_FREE, MO_FREE, MO_FREE } },
    /* the route from C to D is by A, not by B */
    { "* t.m=1; *>* c.m.m=1; a; b; a>b",
      "A model=m; B model=m; C model=m; D model=m;"
      "A-C gbps=1; B-C gbps=1; A-D gbps=1; B-D gbps=1",
      MO_CONGESTION_LINK,
      { MO_FREE, MO_FREE, MO_FREE, MO_FREE } },
    /* equal times, but different links: only A's route to D is B's, too */
    { "* t.m=1; *>* c.m.m=1; a; b; a>b",
      "A model=m; B model=m; C model=m; D model=m;"
      "A-B gbps=1; B-D gbps=1; C-D gbps=1",
      MO_CONGESTION_CHANNEL,
      { MO_FREE, A, B, C } },
    { "* t.m=1; *>* c.m.m=1; a; b; a>b",
      "A model=m; B model=m; C model=m; D model=m;"
      "A-B gbps=1; B-D gbps=1; C-D gbps=1",
      MO_CONGESTION_LINK,
      { MO_FREE, MO_FREE, MO_FREE, MO_FREE } },
};

START_TEST(twins_are_equal_in_everything)
{
    mo_regime regime = { twin_cases[_i].congestion, MO_TENSORS_ONCE,
                         MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p, twin_cases[_i].graph, twin_cases[_i].cluster, NULL);
    f = frame_of(&p, &regime);
    for (int k = 0; k < f->x->n_devices; k++)
        ck_assert_msg(f->symmetric_to[k] == twin_cases[_i].symmetric_to[k],
                      "case %d: device %d has twin %d", _i, k,
                      f->symmetric_to[k]);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

static int exchanged(int device, int a, int b)
{
    return device == a ? b : device == b ? a : device;
}

static bool share_link(const mo_instance *x, int pair, int other)
{
    const mo_route_span *r = &x->routing.routes[pair],
                        *s = &x->routing.routes[other];

    for (int h = 0; h < r->n; h++)
        for (int g = 0; g < s->n; g++)
            if (x->routing.route_link[r->first + h] ==
                x->routing.route_link[s->first + g])
                return true;
    return false;
}

/* Returns whether exchanging the names a and b changes nothing. */
static bool may_exchange(const frame_world *w, int a, int b)
{
    const mo_instance *x = w->p.x;
    int n = x->n_devices;

    for (int i = 0; i < x->n; i++)
        if (mo_instance_p_ns(x, i, a) != mo_instance_p_ns(x, i, b) ||
            x->pin[i] == a || x->pin[i] == b)
            return false;
    for (int pair = 0; pair < n * n; pair++) {
        int from = exchanged(pair / n, a, b), to = exchanged(pair % n, a, b);
        for (int q = 0; q < x->n_flows; q++)
            if (mo_instance_flow_ns(x, q, pair / n, pair % n) !=
                    mo_instance_flow_ns(x, q, from, to) ||
                mo_instance_tensor_ns(x, x->flows[q].tensor, pair / n,
                                      pair % n) !=
                    mo_instance_tensor_ns(x, x->flows[q].tensor, from, to))
                return false;
        for (int other = 0; other < n * n; other++)
            if (w->regime.congestion == MO_CONGESTION_LINK &&
                share_link(x, pair, other) !=
                    share_link(x, from * n + to,
                               exchanged(other / n, a, b) * n +
                                   exchanged(other % n, a, b)))
                return false;
    }
    return x->capacity_bytes[a] == x->capacity_bytes[b];
}

START_TEST(twins_may_change_names)
{
    frame_world w;

    frame_world_make(&w, _i, 6);
    for (int k = 0; k < w.p.x->n_devices; k++) {
        int symmetric_to = w.f->symmetric_to[k];
        if (symmetric_to != MO_FREE)
            ck_assert_msg(symmetric_to < k && may_exchange(&w, symmetric_to, k),
                          "seed %d: devices %d and %d", _i, symmetric_to, k);
        for (int other = symmetric_to + 1;
             other < k && w.regime.congestion != MO_CONGESTION_LINK; other++)
            ck_assert_msg(!may_exchange(&w, other, k),
                          "seed %d: devices %d and %d", _i, other, k);
    }
    frame_world_clear(&w);
}
END_TEST

/* The smallest op on a device, or n. */
static int first_op_on(const mo_schedule *s, int device)
{
    int i = 0;

    while (i < s->n && s->device[i] != device)
        i++;
    return i;
}

START_TEST(the_start_uses_twins_in_order)
{
    frame_world w;
    mo_schedule *s, *anew;
    int64_t makespan;

    frame_world_make(&w, _i, 6);
    s = w.f->start;
    for (int k = 0; s && k < w.p.x->n_devices; k++)
        if (w.f->symmetric_to[k] != MO_FREE && first_op_on(s, k) < s->n)
            ck_assert_msg(first_op_on(s, w.f->symmetric_to[k]) <
                              first_op_on(s, k),
                          "seed %d, device %d", _i, k);
    if (s) {
        MUST(mo_schedule_new(w.p.x, &w.regime, s->device, &anew, &err));
        ck_assert_int_eq(s->n_transfers, anew->n_transfers);
        for (int t = 0; t < s->n_transfers; t++)
            ck_assert(s->transfers[t].item == anew->transfers[t].item &&
                      s->transfers[t].from == anew->transfers[t].from &&
                      s->transfers[t].to == anew->transfers[t].to);
        mo_schedule_free(anew);
        makespan = s->makespan_ns;
        ck_assert_int_eq(makespan, w.f->upper_ns);
        MUST(mo_schedule_left_shift(w.p.x, s, &err));
        ck_assert_msg(s->makespan_ns == makespan, "seed %d", _i);
    }
    frame_world_clear(&w);
}
END_TEST

SUITE(frame_symmetry)
{
    EACH(twins_are_equal_in_everything, COUNT(twin_cases));
    SOME(twins_may_change_names, at_length(480, 160), 24);
    SOME(the_start_uses_twins_in_order, at_length(480, 160), 24);
}
