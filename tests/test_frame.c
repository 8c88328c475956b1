/* Claims of models/frame.h and models/pairs.h: small problems by hand, then
 * held against every schedule of random ones. */
#include "models/frame.h"

#include <string.h>

#include "graph/cut.h"
#include "models/pairs.h"
#include "models/scale.h"
#include "tests/graphs.h"
#include "tests/problem.h"
#include "tests/random_problem.h"
#include "tests/suite.h"

enum { A, B, C };

static const mo_regime port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_STATIC };

static mo_frame *frame_of(const problem *p, const mo_regime *regime)
{
    mo_frame *frame = NULL;

    MUST(mo_frame_make(p->x, regime, false, &frame, &err));
    return frame;
}

static int64_t head(const mo_frame *f, int op, int device)
{
    return f->head_ns[op * f->x->n_devices + device];
}

static int64_t tail(const mo_frame *f, int op, int device)
{
    return f->tail_ns[op * f->x->n_devices + device];
}

/* b comes to A at 1, or to B by the quicker of two ways: made on A and sent, or
 * made there. */
START_TEST(heads_and_tails_take_the_quickest_way)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p, "a t.A=1 t.B=5; b t.A=6 t.B=5; a>b c.A.B=3 c.B.A=7",
                 "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(f->upper_ns, 7000);
    ck_assert_int_eq(head(f, 0, A), 0);
    ck_assert_int_eq(head(f, 1, A), 1000);
    ck_assert_int_eq(tail(f, 0, A), 6000);
    ck_assert(mo_frame_allowed(f, 1, A));
    ck_assert(!mo_frame_allowed(f, 0, B)); /* 5 and 5 are more than 7 */
    ck_assert(!mo_frame_allowed(f, 1, B)); /* 1, 3 and 5, too */
    ck_assert_int_eq(f->est_ns[1], 1000);
    ck_assert_int_eq(f->lct_ns[0], f->horizon_ns - 6000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* A minute is written in steps of 10 ns.  Rounded one by one, 30 s and 4 ns
 * would be as long as 30 s, and twice that longer than twice 30 s. */
START_TEST(times_are_rounded_before_they_are_added)
{
    problem p = { 0 };
    mo_frame *f;
    int64_t step_ns;

    problem_make(&p,
                 "a t.A=30000000.004; b t.A=30000000.004; c t.A=0.006;"
                 "a>b bytes=8; b>c bytes=8",
                 "A", NULL);
    f = frame_of(&p, &port);
    step_ns = mo_scale_step_ns(f->unit_ns);
    ck_assert_int_eq(step_ns, 10);
    ck_assert_int_eq(mo_instance_p_ns(f->x, 0, A), INT64_C(30000000000));
    ck_assert_int_eq(mo_instance_p_ns(f->x, 2, A), 10);
    ck_assert_int_eq(head(f, 2, A), INT64_C(60000000000));
    ck_assert_int_eq(f->start->start_ns[2], INT64_C(60000000000));
    ck_assert_int_eq(f->start->makespan_ns, INT64_C(60000000010));
    ck_assert_int_eq(f->upper_ns, f->start->makespan_ns);
    ck_assert_int_eq(mo_instance_p_ns(p.x, 0, A), INT64_C(30000000004));
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* To three readers on B a tensor goes once, in the time of the longest. */
START_TEST(a_tensor_sent_once_takes_its_longest_time)
{
    static const char graph[] =
        "a t.A=1 t.B=9 pin=A; b t.A=9 t.B=1 pin=B; c t.A=9 t.B=1 pin=B;"
        "a>b c.A.B=2 c.B.A=2; a>c c.A.B=4 c.B.A=4";
    const mo_regime once = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p, graph, "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(head(f, problem_op(&p, "b"), B), 3000);
    mo_frame_free(f);
    f = frame_of(&p, &once);
    ck_assert_int_eq(head(f, problem_op(&p, "b"), B), 5000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* Three ops of 2 between two cuts, on two devices that talk for nothing. */
START_TEST(a_cut_waits_for_the_load_before_it)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p,
                 "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; a; b; c; d; e;"
                 "a>b; a>c; a>d; b>e; c>e; d>e",
                 "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(head(f, problem_op(&p, "e"), B), 2000 + 3000);
    ck_assert_int_eq(tail(f, problem_op(&p, "a"), A), 3000 + 2000);
    ck_assert_int_eq(head(f, problem_op(&p, "d"), A), 2000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* What has no place keeps those of its pin: the model will say that there is no
 * solution. */
START_TEST(a_group_that_fits_nowhere_keeps_its_devices)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p,
                 "* t.A=1 t.B=1; a memory_bytes=6 colocate=g; "
                 "b memory_bytes=6 colocate=g; c memory_bytes=6;"
                 "d memory_bytes=11",
                 "A memory_bytes=10; B memory_bytes=11", NULL);
    f = frame_of(&p, &port);
    ck_assert_ptr_null(f->start);
    for (int i = 0; i < f->x->n; i++)
        ck_assert_int_eq(mo_frame_allowed(f, i, A), i != problem_op(&p, "d"));
    for (int i = 0; i < f->x->n; i++)
        ck_assert(mo_frame_allowed(f, i, B));
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

static const struct {
    const char *graph, *cluster;
    mo_congestion congestion;
    int twin[4];
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
    /* A and C lie on either side of B */
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
    /* one way round, all alike, but no two may change places */
    { "* t.m=1; a; b; a>b bytes=1000",
      "A model=m; B model=m; C model=m; A>B gbps=1 latency_us=1;"
      "B>C gbps=1 latency_us=1; C>A gbps=1 latency_us=1",
      MO_CONGESTION_NONE,
      { MO_FREE, MO_FREE, MO_FREE } },
    /* from C to D the way is by A, not by B */
    { "* t.m=1; *>* c.m.m=1; a; b; a>b",
      "A model=m; B model=m; C model=m; D model=m;"
      "A-C gbps=1; B-C gbps=1; A-D gbps=1; B-D gbps=1",
      MO_CONGESTION_LINK,
      { MO_FREE, MO_FREE, MO_FREE, MO_FREE } },
    /* times tell nothing, but links do: only A's way to D is B's, too */
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
        ck_assert_msg(f->twin[k] == twin_cases[_i].twin[k],
                      "case %d: device %d has twin %d", _i, k, f->twin[k]);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* From here on: a random problem in one of the regimes, and its frame. */
typedef struct world {
    unsigned seed;
    problem p;
    mo_regime regime;
    mo_frame *f;
} world;

static void world_make_open(world *w, int seed, int most_ops, double slack)
{
    random_problem r;

    *w = (world){ .seed = (unsigned) seed };
    w->regime.congestion = (mo_congestion) (seed % 4);
    w->regime.tensors = (mo_tensors) (seed / 4 % 2);
    w->regime.memory = (mo_memory) (seed / 8 % 3);
    random_problem_sized(&r, w->seed, 4, most_ops);
    problem_make(&w->p, r.graph, r.cluster, NULL);
    random_problem_clear(&r);
    MUST(mo_frame_make_open(w->p.x, &w->regime, false, slack, &w->f, &err));
}

static void world_make(world *w, int seed, int most_ops)
{
    world_make_open(w, seed, most_ops, 0);
}

static void world_clear(world *w)
{
    mo_frame_free(w->f);
    problem_clear(&w->p);
}

START_TEST(what_is_simple_is_right)
{
    world w;
    const mo_frame *f;
    mo_dag dag;
    int *cuts, n_cuts;

    world_make(&w, _i, 6);
    f = w.f;
    dag = mo_instance_dag(f->x);
    MUST(mo_cut_find(&dag, &cuts, &n_cuts, &err));
    ck_assert_int_eq(f->n_cuts, n_cuts);
    for (int c = 0; c < n_cuts; c++)
        ck_assert_int_eq(f->cuts[c], cuts[c]);
    free(cuts);
    ck_assert_int_gt(f->horizon_ns, f->upper_ns);
    ck_assert_int_lt(f->horizon_ns, f->upper_ns + f->upper_ns / 5000 + 2);
    ck_assert_int_eq(f->unit_ns, mo_scale_unit_ns(f->horizon_ns));
    for (int i = 0; i < f->x->n; i++) {
        bool any = false;
        for (int k = 0; k < f->x->n_devices; k++) {
            int pin = f->x->pin[i];
            any = any || mo_frame_allowed(f, i, k);
            if (pin != MO_FREE && pin != k)
                ck_assert(!mo_frame_allowed(f, i, k));
            for (int j = 0; j < i && f->x->group[i] != MO_FREE; j++)
                if (f->x->group[j] == f->x->group[i])
                    ck_assert(mo_frame_allowed(f, i, k) ==
                              mo_frame_allowed(f, j, k));
        }
        ck_assert_msg(any, "seed %d: op %d has no device", _i, i);
    }
    world_clear(&w);
}
END_TEST

/* A schedule in the making.  Without congestion, placements and the orders in
 * which ops are appended give all schedules in which nothing could start
 * earlier; with it there are none besides that start anything sooner. */
typedef struct trial {
    const world *w;
    int device[8];
    int64_t start_ns[8], end_ns[8], free_ns[8];
    bool done[8];
    int64_t makespan_ns;
    int found; /* schedules within the horizon */
} trial;

static bool on_one_device(const trial *t, int i, int j)
{
    return t->device[i] == t->device[j];
}

static void check_op(const trial *t, int i)
{
    const mo_frame *f = t->w->f;
    int k = t->device[i];

    if (!mo_frame_allowed(f, i, k) || t->start_ns[i] < head(f, i, k) ||
        t->end_ns[i] + tail(f, i, k) > t->makespan_ns ||
        t->start_ns[i] < f->est_ns[i] || t->end_ns[i] > f->lct_ns[i])
        ck_abort_msg("seed %u: op %d on device %d", t->w->seed, i, k);
}

/* Can i and j overlap on k, both within their windows there?  They do when i
 * starts less than its own time before j, and less than j's after it. */
static bool may_overlap(const mo_frame *f, int i, int j, int k)
{
    int64_t p = mo_instance_p_ns(f->x, i, k), q = mo_instance_p_ns(f->x, j, k);
    int64_t first = head(f, i, k), last = f->horizon_ns - tail(f, i, k) - p;
    int64_t from = head(f, j, k), to = f->horizon_ns - tail(f, j, k) - q;
    int64_t least_after = first - to, most_after = last - from;

    return (least_after > -p ? least_after : 1 - p) <=
           (most_after < q ? most_after : q - 1);
}

static void check_pair(const trial *t, int i, int j)
{
    mo_meeting meeting = mo_pairs_meeting(t->w->f, i, j, t->device[i]);
    bool forward = t->end_ns[i] <= t->start_ns[j];
    bool backward = t->end_ns[j] <= t->start_ns[i];

    ck_assert(forward || backward);
    if (meeting == MO_MEETING_NONE || meeting == MO_MEETING_CLASH ||
        (meeting == MO_MEETING_FORWARD && !forward) ||
        (meeting == MO_MEETING_BACKWARD && !backward))
        ck_abort_msg("seed %u: ops %d and %d on device %d", t->w->seed, i, j,
                     t->device[i]);
}

static void check_schedule(trial *t)
{
    const mo_frame *f = t->w->f;

    t->found++;
    for (int i = 0; i < f->x->n; i++)
        check_op(t, i);
    for (int i = 0; i < f->x->n; i++)
        for (int j = i + 1; j < f->x->n; j++)
            if (on_one_device(t, i, j) && mo_frame_incomparable(f, i, j))
                check_pair(t, i, j);
}

/* When all that op reads is on its device; -1: something is not yet made. */
static int64_t inputs_at(const trial *t, int op)
{
    const mo_instance *x = t->w->f->x;
    int64_t at = 0;

    for (int q = 0; q < x->n_flows; q++) {
        int from = x->flows[q].from, a = t->device[from], b = t->device[op];
        int64_t arrival;
        if (x->flows[q].to != op)
            continue;
        if (!t->done[from])
            return -1;
        arrival = t->end_ns[from] +
                  (t->w->regime.tensors == MO_TENSORS_ONCE
                       ? mo_instance_tensor_ns(x, x->flows[q].tensor, a, b)
                       : mo_instance_flow_ns(x, q, a, b));
        if (arrival > at)
            at = arrival;
    }
    return at;
}

static void append_ops(trial *t, int n_done)
{
    const mo_instance *x = t->w->f->x;

    if (n_done == x->n) {
        check_schedule(t);
        return;
    }
    for (int i = 0; i < x->n; i++) {
        int k = t->device[i];
        int64_t at = t->done[i] ? -1 : inputs_at(t, i);
        int64_t before = t->free_ns[k], makespan = t->makespan_ns;
        if (at < 0)
            continue;
        t->start_ns[i] = at > before ? at : before;
        t->end_ns[i] = t->start_ns[i] + mo_instance_p_ns(x, i, k);
        if (t->end_ns[i] > t->w->f->horizon_ns)
            continue;
        t->free_ns[k] = t->end_ns[i];
        if (t->end_ns[i] > makespan)
            t->makespan_ns = t->end_ns[i];
        t->done[i] = true;
        append_ops(t, n_done + 1);
        t->done[i] = false;
        t->makespan_ns = makespan;
        t->free_ns[k] = before;
    }
}

static bool fits_memory(const trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int k = 0; k < x->n_devices; k++) {
        int64_t sum = 0;
        for (int i = 0; i < x->n; i++)
            if (t->device[i] == k)
                sum += t->w->regime.memory == MO_MEMORY_STATIC
                           ? x->memory_bytes[i]
                           : x->weight_bytes[i];
        if (sum > x->capacity_bytes[k])
            return false;
    }
    return true;
}

static bool may_be_placed(const trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int i = 0; i < x->n; i++) {
        if (x->pin[i] != MO_FREE && x->pin[i] != t->device[i])
            return false;
        for (int j = 0; j < i && x->group[i] != MO_FREE; j++)
            if (x->group[j] == x->group[i] && !on_one_device(t, i, j))
                return false;
    }
    return t->w->regime.memory == MO_MEMORY_NONE || fits_memory(t);
}

/* Counts up through all placements; false behind the last. */
static bool next_placement(trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int i = 0; i < x->n; i++) {
        if (++t->device[i] < x->n_devices)
            return true;
        t->device[i] = 0;
    }
    return false;
}

/* Holds the frame against every schedule within its horizon; how many. */
static int try_all(const world *w)
{
    trial t = { .w = w };

    do
        if (may_be_placed(&t))
            append_ops(&t, 0);
    while (next_placement(&t));
    if (w->f->start)
        ck_assert_msg(t.found > 0, "seed %u", w->seed);
    return t.found;
}

START_TEST(no_schedule_within_the_horizon_is_lost)
{
    world w;

    world_make(&w, _i, 5);
    try_all(&w);
    world_clear(&w);
}
END_TEST

START_TEST(with_slack_no_schedule_up_to_so_many_times_is_lost)
{
    world plain, open;
    int n_plain, n_open;

    world_make(&plain, _i, 5);
    world_make_open(&open, _i, 5, 2);
    ck_assert_int_eq(open.f->upper_ns, 2 * plain.f->upper_ns);
    ck_assert_int_ge(open.f->horizon_ns, open.f->upper_ns);
    for (int k = 0; k < open.f->x->n_devices; k++)
        ck_assert_int_eq(open.f->twin[k], MO_FREE);
    n_plain = try_all(&plain);
    n_open = try_all(&open);
    ck_assert_msg(n_open >= n_plain, "seed %d: %d, %d", _i, n_open, n_plain);
    if (open.f->start)
        ck_assert_int_eq(open.f->start->makespan_ns, plain.f->upper_ns);
    world_clear(&open);
    world_clear(&plain);
}
END_TEST

/* How often each meeting is found, device by device. */
static void count_meetings(const world *w, int i, int j,
                           int count[MO_MEETING_CLASH + 1])
{
    memset(count, 0, (MO_MEETING_CLASH + 1) * sizeof *count);
    for (int k = 0; k < w->f->x->n_devices; k++) {
        mo_meeting meeting = mo_pairs_meeting(w->f, i, j, k);

        count[meeting]++;
        if (meeting == MO_MEETING_SETTLED)
            ck_assert_msg(!may_overlap(w->f, i, j, k),
                          "seed %u: ops %d and %d on device %d", w->seed, i, j,
                          k);
    }
}

/* Is i, j a pair by the definition?  If so pairs must be there and say the
 * same of it. */
static bool check_listed(const world *w, int i, int j, const mo_pairs *pairs)
{
    int count[MO_MEETING_CLASH + 1];
    bool forward, backward;

    if (!mo_frame_incomparable(w->f, i, j))
        return false;
    count_meetings(w, i, j, count);
    if (count[MO_MEETING_NONE] + count[MO_MEETING_SETTLED] ==
        w->f->x->n_devices)
        return false;
    forward = count[MO_MEETING_FORWARD] + count[MO_MEETING_EITHER] > 0;
    backward = count[MO_MEETING_BACKWARD] + count[MO_MEETING_EITHER] > 0;
    ck_assert_msg(pairs->i == i && pairs->j == j && pairs->forward == forward &&
                      pairs->backward == backward,
                  "seed %u: ops %d and %d", w->seed, i, j);
    return true;
}

START_TEST(pairs_are_those_with_something_to_decide)
{
    world w;
    mo_pairs pairs;
    bool more;

    world_make(&w, _i, 6);
    mo_pairs_begin(w.f, &pairs);
    more = mo_pairs_next(&pairs);
    for (int i = 0; i < w.p.x->n; i++)
        for (int j = i + 1; j < w.p.x->n; j++)
            if (check_listed(&w, i, j, &pairs)) {
                ck_assert(more);
                more = mo_pairs_next(&pairs);
            }
    ck_assert(!more);
    world_clear(&w);
}
END_TEST

static int exchanged(int device, int a, int b)
{
    return device == a ? b : device == b ? a : device;
}

static bool share_link(const mo_instance *x, int pair, int other)
{
    for (int h = x->route_start[pair]; h < x->route_start[pair + 1]; h++)
        for (int g = x->route_start[other]; g < x->route_start[other + 1]; g++)
            if (x->route_link[h] == x->route_link[g])
                return true;
    return false;
}

/* Does it make no difference to anything when a and b change names? */
static bool may_exchange(const world *w, int a, int b)
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
    world w;

    world_make(&w, _i, 6);
    for (int k = 0; k < w.p.x->n_devices; k++) {
        int twin = w.f->twin[k];
        if (twin != MO_FREE)
            ck_assert_msg(twin < k && may_exchange(&w, twin, k),
                          "seed %d: devices %d and %d", _i, twin, k);
        for (int other = twin + 1;
             other < k && w.regime.congestion != MO_CONGESTION_LINK; other++)
            ck_assert_msg(!may_exchange(&w, other, k),
                          "seed %d: devices %d and %d", _i, other, k);
    }
    world_clear(&w);
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
    world w;
    mo_schedule *s, *anew;
    int64_t makespan;

    world_make(&w, _i, 6);
    s = w.f->start;
    for (int k = 0; s && k < w.p.x->n_devices; k++)
        if (w.f->twin[k] != MO_FREE && first_op_on(s, k) < s->n)
            ck_assert_msg(first_op_on(s, w.f->twin[k]) < first_op_on(s, k),
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
        MUST(mo_schedule_shift(w.p.x, s, &err));
        ck_assert_msg(s->makespan_ns == makespan, "seed %d", _i);
    }
    world_clear(&w);
}
END_TEST

SUITE(frame)
{
    TEST(heads_and_tails_take_the_quickest_way);
    TEST(times_are_rounded_before_they_are_added);
    TEST(a_tensor_sent_once_takes_its_longest_time);
    TEST(a_cut_waits_for_the_load_before_it);
    TEST(a_group_that_fits_nowhere_keeps_its_devices);
    EACH(twins_are_equal_in_everything, COUNT(twin_cases));
    SOME(what_is_simple_is_right, at_length(480, 160), 24);
    SOME(no_schedule_within_the_horizon_is_lost, at_length(480, 160), 24);
    SOME(with_slack_no_schedule_up_to_so_many_times_is_lost,
         at_length(480, 160), 24);
    SOME(pairs_are_those_with_something_to_decide, at_length(480, 160), 24);
    SOME(twins_may_change_names, at_length(480, 160), 24);
    SOME(the_start_uses_twins_in_order, at_length(480, 160), 24);
}
