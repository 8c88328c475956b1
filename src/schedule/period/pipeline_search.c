/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks are inserted into the cyclic orders of their resources in the order of
 * a list schedule of one request.  A task without a place ejects others, chosen
 * by penalties that grow with every failure (Nagata and Braeysy, 2009), and
 * these are inserted again.  With a limit of requests in flight there are
 * deadlines: every task is to start by its time in the list schedule,
 * stretched.  Without one, annealing shortens the latency at the least period
 * (mo_cyclic_order_shorten).  Effort is counted in steps.
 */
#include "schedule/period/pipeline_search.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "schedule/period/cyclic_order.h"
#include "schedule/period/loads.h"

enum {
    EJECTIONS = 20,   /* by task, of one attempt */
    PACKINGS = 40,    /* periods from the load on that are a 400th apart */
    BISECTIONS = 8,   /* of the period with a limit of requests in flight */
    SHORTENING = 2000 /* steps of annealing, by the square of the tasks */
};

/* Steps of all attempts together: about a second. */
static const int64_t max_work = 80000000;

typedef struct scheduler {
    mo_cyclic_order c;
    int *order, *rank;       /* tasks in the order of insertion; their places */
    int64_t *list_ns;        /* by task: start in the list schedule */
    int64_t list_latency_ns; /* 0: there is none */
    int64_t *tail_ns;        /* by task */
    int64_t *penalty;
    int *ejected;
    int64_t load_ns, latency_ns; /* lower bounds: period, latency */
    int max_in_flight;           /* 0: no limit */
    bool shortens;               /* without one: search for fewer in flight */
    mo_modulo_schedule *best;
} scheduler;

static int64_t count_in_flight(int64_t latency_ns, int64_t period_ns)
{
    int64_t n = latency_ns / period_ns + (latency_ns % period_ns > 0);

    return mo_max_i64(n, 1);
}

/* Sets deadlines for a latency; INT64_MAX: none.  A predecessor at its deadline
 * leaves its successors theirs. */
static void set_deadlines(scheduler *m, int64_t period_ns, int64_t latency_ns)
{
    mo_cyclic_order *c = &m->c;
    int64_t spare_ns =
        mo_min_i64(period_ns / 2, latency_ns - m->list_latency_ns);
    double stretch = m->list_latency_ns > 0 ? (double) (latency_ns - spare_ns) /
                                                  (double) m->list_latency_ns
                                            : 0;

    for (int i = 0; i < c->n; i++) {
        if (latency_ns == INT64_MAX)
            c->deadline_ns[i] = INT64_MAX;
        else if (m->list_latency_ns == 0 || spare_ns < 0)
            c->deadline_ns[i] = latency_ns - m->tail_ns[i];
        else
            c->deadline_ns[i] = mo_min_i64(
                (int64_t) (stretch * (double) m->list_ns[i]) + spare_ns,
                latency_ns - m->tail_ns[i]);
    }
}

/* Inserts all tasks in the order, those ejected again. */
static bool insert_all(scheduler *m, const int *order, const int *rank,
                       int64_t period_ns, int64_t limit)
{
    mo_cyclic_order *c = &m->c;
    int64_t left = (int64_t) EJECTIONS * c->n;

    mo_cyclic_order_reset(c, period_ns);
    for (int i = 0; i < c->n; i++)
        m->penalty[i] = 1;
    for (int next = 0; next < c->n;) {
        int task = order[next], n;

        if (c->is_in[task] || mo_cyclic_order_insert(c, task)) {
            next++;
            continue;
        }
        if (left-- == 0 || c->work > limit)
            return false;
        n = mo_cyclic_order_force(c, task, m->penalty, m->ejected);
        for (int i = 0; i < n; i++)
            next = mo_min_int(next, rank[m->ejected[i]]);
    }
    return true;
}

static mo_status compact_and_keep(scheduler *m, mo_error *err)
{
    bool fits = false;
    mo_status status = mo_cyclic_order_compact(&m->c, m->load_ns,
                                               m->max_in_flight, &fits, err);

    if (status == MO_OK && fits) {
        mo_modulo_schedule *best = m->best;
        int64_t period_ns = m->c.period_ns;
        int64_t latency_ns = mo_cyclic_order_latency_ns(&m->c);
        int64_t n = count_in_flight(latency_ns, period_ns);

        /* Keeps the state if it is the best: the shorter period, then fewer
         * requests in flight, then the shorter latency. */
        if (!(best->period_ns > 0 &&
              (period_ns > best->period_ns ||
               (period_ns == best->period_ns &&
                (n > best->in_flight ||
                 (n == best->in_flight &&
                  latency_ns >= best->request->makespan_ns)))))) {
            mo_cyclic_order_export(&m->c, best->request);
            best->period_ns = period_ns;
            best->in_flight = (int) mo_min_i64(n, INT32_MAX);
        }
    }
    return status;
}

static mo_status try_period(scheduler *m, int64_t period_ns, int64_t latency_ns,
                            bool *fits, mo_error *err)
{
    int64_t effort = latency_ns == INT64_MAX ? max_work / 8 : max_work / 2;

    set_deadlines(m, period_ns, latency_ns);
    *fits = insert_all(m, m->order, m->rank, period_ns, m->c.work + effort);
    return *fits ? compact_and_keep(m, err) : MO_OK;
}

typedef struct task_length {
    int64_t ns;
    int task;
} task_length;

static int compare_lengths(const void *a, const void *b)
{
    const task_length *s = a, *t = b;

    if (s->ns != t->ns)
        return s->ns < t->ns ? 1 : -1;
    return s->task - t->task;
}

/* The order of a packing: tasks of several resources by decreasing length, then
 * those of one, which fill it up without a gap, as they are listed. */
static mo_status order_packing(const scheduler *m, int *order, int *rank,
                               mo_error *err)
{
    const mo_cyclic_order *c = &m->c;
    task_length *lengths = calloc((size_t) c->n + 1, sizeof *lengths);

    if (!lengths)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++) {
        int task = m->order[i];
        int held = c->member_start[task + 1] - c->member_start[task];

        lengths[i] = (task_length){ held > 1 ? c->ns[task] : 0, i };
    }
    qsort(lengths, (size_t) c->n, sizeof *lengths, compare_lengths);
    for (int i = 0; i < c->n; i++) {
        order[i] = m->order[lengths[i].task];
        rank[order[i]] = i;
    }
    free(lengths);
    return MO_OK;
}

/* Packs the tasks of each resource regardless of precedences, which costs
 * stages.  Where the load is not reached, the period grows. */
static mo_status keep_packed(scheduler *m, mo_error *err)
{
    size_t n = (size_t) m->c.n + 1;
    int *order = calloc(n, sizeof *order), *rank = calloc(n, sizeof *rank);
    int64_t most_ns = m->best->period_ns;
    bool fits = false;
    int n_tries = 0;
    mo_schedule *packed = NULL;
    mo_status status = order && rank ? order_packing(m, order, rank, err)
                                     : mo_fail_memory(err);

    set_deadlines(m, 1, INT64_MAX);
    m->c.is_packing = true;
    for (int64_t ns = m->load_ns; ns < most_ns && !fits && status == MO_OK;
         ns += ns / (n_tries++ < PACKINGS ? 400 : 50) + 1)
        fits = insert_all(m, order, rank, ns, m->c.work + max_work / PACKINGS);
    m->c.is_packing = false;
    free(order);
    free(rank);
    if (status != MO_OK || !fits)
        return status;
    /* Moves every task to its first repetition after its inputs. */
    mo_cyclic_order *c = &m->c;

    for (int k = 0; k < c->n; k++) {
        int a = m->order[k];
        int64_t ready_ns = mo_cyclic_order_ready_ns(c, a);
        int64_t late_ns = ready_ns - c->start_ns[a];

        if (late_ns <= 0)
            continue;
        if (c->ns[a] == 0)
            c->start_ns[a] = ready_ns;
        else
            c->start_ns[a] += mo_ceil_div(late_ns, c->period_ns) * c->period_ns;
    }
    /* The heights follow from the stages. */
    status = mo_schedule_copy(m->c.x, m->best->request, &packed, err);
    if (status == MO_OK) {
        mo_cyclic_order_export(&m->c, packed);
        status = mo_cyclic_order_import(&m->c, packed, m->c.period_ns, err);
    }
    mo_schedule_free(packed);
    return status == MO_OK ? compact_and_keep(m, err) : status;
}

/* One request at a time, then as many as its order admits. */
static mo_status start_with_list(scheduler *m, const mo_schedule *listed,
                                 mo_error *err)
{
    mo_status status = MO_OK;
    int64_t at_ns = 0;

    if (listed)
        status =
            mo_cyclic_order_import(&m->c, listed, listed->makespan_ns + 1, err);
    else
        for (int i = 0; i < m->c.n; i++) {
            m->c.start_ns[m->order[i]] = at_ns;
            at_ns += m->c.ns[m->order[i]];
        }
    if (status == MO_OK && !listed) {
        mo_cyclic_order_export(&m->c, m->best->request);
        status =
            mo_cyclic_order_import(&m->c, m->best->request, at_ns + 1, err);
    }
    return status == MO_OK ? compact_and_keep(m, err) : status;
}

/* Fewer requests in flight, and a shorter latency, at the best period. */
static mo_status shorten_best(scheduler *m, mo_error *err)
{
    const mo_modulo_schedule *best = m->best;
    int64_t effort =
        mo_min_i64((int64_t) SHORTENING * m->c.n * m->c.n, max_work * 2);
    mo_status status;

    if (best->in_flight <= count_in_flight(m->latency_ns, best->period_ns))
        effort /= 8;
    status = mo_cyclic_order_import(&m->c, best->request, best->period_ns, err);
    if (status == MO_OK)
        status = mo_cyclic_order_shorten(&m->c, m->tail_ns, m->latency_ns,
                                         m->c.work + effort, err);
    return status == MO_OK ? compact_and_keep(m, err) : status;
}

/* The least period, then the fewest in flight. */
static mo_status search_period(scheduler *m, mo_error *err)
{
    bool fits = false;
    mo_status status = MO_OK;

    if (m->load_ns < m->best->period_ns)
        status = try_period(m, m->load_ns, INT64_MAX, &fits, err);
    if (status == MO_OK && m->best->period_ns > m->load_ns &&
        !mo_ablated(MO_ABLATION_pipeline_packing))
        status = keep_packed(m, err);
    return status == MO_OK && m->shortens &&
                   !mo_ablated(MO_ABLATION_pipeline_shorten)
               ? shorten_best(m, err)
               : status;
}

/* The least period with so many requests in flight, by bisection. */
static mo_status search_limited(scheduler *m, mo_error *err)
{
    int64_t low_ns =
        mo_max_i64(m->load_ns, mo_ceil_div(m->latency_ns, m->max_in_flight));
    int64_t ns = low_ns;
    mo_status status = MO_OK;

    for (int i = 0; i < BISECTIONS && status == MO_OK &&
                    ns < m->best->period_ns && m->c.work <= max_work;
         i++) {
        bool fits = false;

        status = try_period(m, ns, ns * m->max_in_flight, &fits, err);
        if (!fits)
            low_ns = ns;
        ns = low_ns + (m->best->period_ns - low_ns) / 2;
    }
    return status;
}

typedef struct listed_task {
    int64_t start_ns;
    int rank, task;
} listed_task;

static int compare_starts(const void *a, const void *b)
{
    const listed_task *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return s->rank != t->rank ? s->rank - t->rank : s->task - t->task;
}

/* Tasks by their start in the list schedule (NULL: by number), equal ones in
 * topological order. */
static mo_status order_tasks(scheduler *m, const mo_schedule *listed,
                             mo_error *err)
{
    const mo_cyclic_order *c = &m->c;
    listed_task *tasks = calloc((size_t) c->n + 1, sizeof *tasks);

    if (!tasks)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++) {
        bool is_op = i < c->n_ops;

        if (listed)
            m->list_ns[i] = is_op ? listed->start_ns[i]
                                  : listed->transfers[i - c->n_ops].start_ns;
        tasks[i] = (listed_task){
            m->list_ns[i], is_op ? 2 * i : 2 * c->pred[c->pred_start[i]] + 1, i
        };
    }
    qsort(tasks, (size_t) c->n, sizeof *tasks, compare_starts);
    for (int i = 0; i < c->n; i++) {
        m->order[i] = tasks[i].task;
        m->rank[tasks[i].task] = i;
    }
    m->list_latency_ns = listed ? listed->makespan_ns : 0;
    free(tasks);
    return MO_OK;
}

static mo_status find_schedule(scheduler *m, const mo_schedule *listed,
                               mo_error *err)
{
    size_t n = (size_t) m->c.n + 1;
    size_t n_arcs = (size_t) m->c.succ_start[m->c.n];
    size_t n_members = (size_t) m->c.member_start[m->c.n];
    size_t n_resources = (size_t) m->c.n_resources + 1;

    m->order = calloc(n, sizeof *m->order);
    m->rank = calloc(n, sizeof *m->rank);
    m->list_ns = calloc(n, sizeof *m->list_ns);
    m->tail_ns = calloc(n, sizeof *m->tail_ns);
    m->penalty = calloc(n, sizeof *m->penalty);
    m->ejected = calloc(n_arcs + n_members + n_resources, sizeof *m->ejected);
    mo_status status = m->order && m->rank && m->list_ns && m->tail_ns &&
                               m->penalty && m->ejected
                           ? MO_OK
                           : mo_fail_memory(err);

    if (status == MO_OK)
        status = order_tasks(m, listed, err);
    if (status != MO_OK)
        return status;
    mo_cyclic_order_tails(&m->c, m->order, m->tail_ns);
    status = mo_cyclic_order_latency_bound(&m->c, m->order, m->tail_ns,
                                           &m->latency_ns, err);
    if (status == MO_OK)
        status = start_with_list(m, listed, err);
    if (status == MO_OK && m->max_in_flight == 0)
        status = search_period(m, err);
    else if (status == MO_OK)
        status = search_limited(m, err);
    m->best->least_in_flight = (int) mo_min_i64(
        count_in_flight(m->latency_ns, mo_max_i64(m->best->period_ns, 1)),
        INT32_MAX);
    return status;
}

mo_status mo_pipeline_search(const mo_instance *x, const mo_schedule *listed,
                             int64_t load_ns, int max_in_flight, bool shortens,
                             mo_modulo_schedule *made, mo_error *err)
{
    scheduler m = { .max_in_flight = max_in_flight,
                    .shortens = shortens,
                    .best = made };
    mo_status status = mo_cyclic_order_init(&m.c, x, made->request, err);

    m.load_ns = mo_max_i64(load_ns, 1);
    made->period_ns = 0;
    if (status == MO_OK)
        status = find_schedule(&m, listed, err);
    /* An op starts when its transfers are received. */
    if (status == MO_OK)
        mo_period_add_overheads(x, made->request, made->request->start_ns,
                                NULL);
    mo_cyclic_order_clear(&m.c);
    free(m.order);
    free(m.rank);
    free(m.list_ns);
    free(m.tail_ns);
    free(m.penalty);
    free(m.ejected);
    return status;
}
