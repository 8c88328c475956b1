/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of moirai.h: the library as a program sees it. */
#include <config.h>

#include "moirai.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define OK(call) ck_assert_msg((call) == MOIRAI_OK, "%s", why.text)

static moirai_error why;

/* Options without a solver for subproblems, which would be a process of its
 * own. */
static moirai_options *alone;

static void make_options(void)
{
    OK(moirai_options_new(&alone, &why));
    OK(moirai_options_set(alone, "assist", "none", &why));
}

static void free_options(void)
{
    moirai_options_free(alone);
}

/* A chain of n ops, 10 us on device "a" and 20 us on "b", 1000 bytes each. */
static moirai_graph *make_chain(int n)
{
    moirai_builder *b = NULL;
    moirai_graph *graph = NULL;
    int op, before = -1;

    OK(moirai_builder_new(&b, &why));
    for (int i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof name, "op%d", i);
        OK(moirai_builder_op(b, name, NULL, 1000, &op, &why));
        OK(moirai_builder_time(b, op, "a", 10, &why));
        OK(moirai_builder_time(b, op, "b", 20, &why));
        if (before >= 0)
            OK(moirai_builder_edge(b, before, op, 4000, NULL, &why));
        before = op;
    }
    OK(moirai_builder_finish(b, NULL, &graph, &why));
    moirai_builder_free(b);
    return graph;
}

/* Two devices with so many bytes, and links of 8 Gbit/s. */
static moirai_cluster *make_cluster(int64_t a_bytes, int64_t b_bytes)
{
    const char *const ids[] = { "a", "b" };
    const int64_t memory[] = { a_bytes, b_bytes };
    const double gbps[] = { 0, 8, 8, 0 };
    moirai_cluster *cluster = NULL;

    OK(moirai_cluster_new(2, ids, memory, gbps, NULL, &cluster, &why));
    return cluster;
}

static moirai_instance *make_instance(int n, int64_t a_bytes, int64_t b_bytes)
{
    moirai_graph *graph = make_chain(n);
    moirai_cluster *cluster = make_cluster(a_bytes, b_bytes);
    moirai_instance *instance = NULL;

    OK(moirai_instance_new(graph, cluster, NULL, NULL, &instance, &why));
    moirai_graph_free(graph);
    moirai_cluster_free(cluster);
    return instance;
}

/* Collects what is written. */
typedef struct text {
    char data[100000];
    size_t size;
} text;

static int append(void *context, const char *data, size_t size)
{
    text *t = context;

    ck_assert_uint_lt(t->size + size, sizeof t->data);
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = '\0';
    return 0;
}

static int refuse(void *context, const char *data, size_t size)
{
    (void) context, (void) data, (void) size;
    return 28; /* ENOSPC */
}

START_TEST(an_error_has_file_line_and_text)
{
    static const char broken[] =
        "<graphml>\n<graph>\n<node/>\n</graph></graphml>";
    moirai_graph *graph = NULL;
    char line[200], cut[8];

    ck_assert_int_ne(moirai_graph_read_memory("x.graphml", broken,
                                              strlen(broken), NULL, &graph,
                                              &why),
                     MOIRAI_OK);
    ck_assert_ptr_null(graph);
    moirai_error_text(&why, line, sizeof line);
    ck_assert_int_eq(strncmp(line, "x.graphml:3: ", 13), 0);
    ck_assert_str_eq(moirai_error_text(&why, cut, sizeof cut), "x.graph");
    ck_assert_str_eq(moirai_status_name(MOIRAI_E_INFEASIBLE), "infeasible");
    ck_assert_str_eq(moirai_status_name(77), "unknown status");
    ck_assert_str_eq(moirai_version(), PACKAGE_VERSION);
}
END_TEST

START_TEST(options_are_checked)
{
    moirai_options *o = NULL;

    OK(moirai_options_new(&o, &why));
    ck_assert_int_eq(moirai_options_set(o, "tine", "1", &why), MOIRAI_E_USAGE);
    ck_assert_int_eq(moirai_options_set(o, "time", "-1", &why), MOIRAI_E_USAGE);
    ck_assert_int_eq(moirai_options_set(o, "memory", "much", NULL),
                     MOIRAI_E_USAGE);
    ck_assert_int_eq(moirai_options_set(o, "closure", "perhaps", &why),
                     MOIRAI_E_USAGE);
    OK(moirai_options_set(o, "time", "1.5", &why));
    OK(moirai_options_set(o, "precision", "fp8", &why));
    OK(moirai_options_set(o, "closure", "1", &why));
    OK(moirai_options_set(o, "method", "nonesuch", &why));
    OK(moirai_options_set(o, "method", NULL, &why));
    moirai_options_free(o);
    moirai_options_free(NULL);
}
END_TEST

START_TEST(an_option_can_be_reset)
{
    moirai_instance *x = make_instance(3, INT64_MAX, INT64_MAX);
    moirai_placement *p = NULL;
    moirai_options *o = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "assist", "none", &why));
    OK(moirai_options_set(o, "method", "nonesuch", &why));
    ck_assert_int_eq(moirai_place(x, o, &p, &why), MOIRAI_E_USAGE);
    OK(moirai_options_set(o, "method", NULL, &why));
    OK(moirai_options_set(o, "method", "single", &why));
    OK(moirai_place(x, o, &p, &why));
    ck_assert_str_eq(moirai_placement_method(p), "single");
    moirai_placement_free(p);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

START_TEST(a_graph_is_built_from_numbers)
{
    moirai_graph *g = make_chain(3);
    int from, to;
    int64_t bytes;

    ck_assert_int_eq(moirai_graph_n_ops(g), 3);
    ck_assert_int_eq(moirai_graph_n_edges(g), 2);
    ck_assert_str_eq(moirai_graph_op_text(g, 1, "name"), "op1");
    ck_assert_ptr_null(moirai_graph_op_text(g, 1, "type"));
    ck_assert_ptr_null(moirai_graph_op_text(g, 9, "name"));
    ck_assert_ptr_null(moirai_graph_op_text(g, 1, "colour"));
    ck_assert(moirai_graph_op_number(g, 1, "memory_bytes") == 1000);
    ck_assert(moirai_graph_op_number(g, 1, "flops") == -1);
    ck_assert_int_eq(moirai_graph_find(g, "op2"), 2);
    ck_assert_int_eq(moirai_graph_find(g, "op3"), -1);
    ck_assert_int_eq(moirai_graph_edge(g, 1, &from, &to, &bytes), 0);
    ck_assert(from == 1 && to == 2 && bytes == 4000);
    ck_assert_int_eq(moirai_graph_edge(g, 2, NULL, NULL, NULL), -1);
    ck_assert_int_eq(moirai_graph_coarse_op(g, 1), 1);
    moirai_graph_free(g);
}
END_TEST

START_TEST(a_cycle_is_refused)
{
    moirai_builder *b = NULL;
    moirai_graph *g = NULL;
    int x, y;

    OK(moirai_builder_new(&b, &why));
    OK(moirai_builder_op(b, "x", NULL, 0, &x, &why));
    OK(moirai_builder_op(b, "y", NULL, 0, &y, &why));
    ck_assert_int_eq(moirai_builder_op(b, "x", NULL, 0, &x, &why),
                     MOIRAI_E_INPUT);
    ck_assert_int_eq(moirai_builder_edge(b, x, 5, 0, NULL, &why),
                     MOIRAI_E_USAGE);
    ck_assert_int_eq(moirai_builder_op_set(b, x, "flops", "many", &why),
                     MOIRAI_E_INPUT);
    ck_assert_int_eq(moirai_builder_op_set(b, x, "colour", "red", &why),
                     MOIRAI_E_USAGE);
    OK(moirai_builder_op_set(b, x, "flops", "1e9", &why));
    OK(moirai_builder_op_set(b, x, "pin", "a", &why));
    OK(moirai_builder_edge(b, x, y, 8, NULL, &why));
    OK(moirai_builder_edge(b, y, x, 8, NULL, &why));
    ck_assert_int_eq(moirai_builder_finish(b, NULL, &g, &why), MOIRAI_E_INPUT);
    ck_assert_ptr_null(g);
    moirai_builder_free(b);
}
END_TEST

START_TEST(a_view_has_the_numbers)
{
    moirai_instance *x = make_instance(3, 5000, INT64_MAX);
    const moirai_view *v = moirai_instance_view(x);

    ck_assert_uint_eq(v->size, sizeof *v);
    ck_assert_int_eq(v->n_ops, 3);
    ck_assert_int_eq(v->n_devices, 2);
    ck_assert_int_eq(v->n_flows, 2);
    ck_assert_int_eq(v->time_ns[2], 10000);
    ck_assert_int_eq(v->time_ns[3], 20000);
    ck_assert_int_eq(v->capacity_bytes[0], 5000);
    ck_assert(v->capacity_bytes[1] == INT64_MAX);
    ck_assert_int_eq(v->pin[0], MOIRAI_NONE);
    ck_assert_int_eq(v->congestion, MOIRAI_CONGESTION_PORT);
    ck_assert_int_eq(moirai_view_transfer_ns(v, 0, 0, 1), 4000);
    ck_assert_int_eq(moirai_view_transfer_ns(v, 0, 1, 1), 0);
    ck_assert_str_eq(v->device_ids[1], "b");
    moirai_instance_free(x);
}
END_TEST

/* As by the commands. */
START_TEST(a_limit_in_flight_is_for_the_period)
{
    moirai_graph *graph = make_chain(2);
    moirai_cluster *cluster = make_cluster(1000, 1000);
    moirai_instance *instance = NULL;
    moirai_options *o = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "in-flight", "2", &why));
    ck_assert_int_eq(
        moirai_instance_new(graph, cluster, NULL, o, &instance, &why),
        MOIRAI_E_USAGE);
    ck_assert_ptr_null(instance);
    OK(moirai_options_set(o, "objective", "period", &why));
    OK(moirai_instance_new(graph, cluster, NULL, o, &instance, &why));
    ck_assert_int_eq(moirai_instance_view(instance)->in_flight, 2);
    moirai_instance_free(instance);
    moirai_options_free(o);
    moirai_graph_free(graph);
    moirai_cluster_free(cluster);
}
END_TEST

START_TEST(a_transfer_can_have_a_time_of_its_own)
{
    moirai_cluster *c = make_cluster(INT64_MAX, INT64_MAX);
    moirai_instance *x = NULL;
    moirai_builder *b = NULL;
    moirai_graph *g = NULL;
    int op[2], edge;

    OK(moirai_builder_new(&b, &why));
    for (int i = 0; i < 2; i++) {
        OK(moirai_builder_op(b, i ? "y" : "x", NULL, 0, &op[i], &why));
        OK(moirai_builder_time(b, op[i], "a", 1, &why));
        OK(moirai_builder_time(b, op[i], "b", 1, &why));
    }
    ck_assert_int_eq(moirai_builder_time(b, op[0], "a", -1, &why),
                     MOIRAI_E_INPUT);
    OK(moirai_builder_edge(b, op[0], op[1], 4000, &edge, &why));
    OK(moirai_builder_transfer_time(b, edge, "a", "b", 7.5, &why));
    OK(moirai_builder_finish(b, NULL, &g, &why));
    OK(moirai_instance_new(g, c, NULL, NULL, &x, &why));
    ck_assert_int_eq(moirai_view_transfer_ns(moirai_instance_view(x), 0, 0, 1),
                     7500);
    ck_assert_int_eq(moirai_view_transfer_ns(moirai_instance_view(x), 0, 1, 0),
                     4000);
    moirai_builder_free(b);
    moirai_graph_free(g);
    moirai_cluster_free(c);
    moirai_instance_free(x);
}
END_TEST

/* Patterns consist of a search; other models have one where it is requested. */
START_TEST(models_can_have_a_search)
{
    moirai_instance *x = make_instance(3, INT64_MAX, INT64_MAX);
    moirai_options *o = NULL;
    text *t = calloc(1, sizeof *t);

    OK(moirai_options_new(&o, &why));
    OK(moirai_emit(x, o, NULL, append, t, &why));
    ck_assert_ptr_null(strstr(t->data, "proof"));
    t->size = 0;
    OK(moirai_options_set(o, "strengthen", "5", &why));
    OK(moirai_emit(x, o, NULL, append, t, &why));
    ck_assert_ptr_nonnull(strstr(t->data, "formulation: compact"));
    ck_assert_ptr_nonnull(strstr(t->data, "proof"));
    t->size = 0;
    OK(moirai_options_set(o, "strengthen", NULL, &why));
    OK(moirai_options_set(o, "formulation", "patterns", &why));
    OK(moirai_emit(x, o, NULL, append, t, &why));
    ck_assert_ptr_nonnull(strstr(t->data, "formulation: patterns"));
    OK(moirai_options_set(o, "strengthen", "0", &why));
    ck_assert_int_eq(moirai_emit(x, o, NULL, append, t, &why), MOIRAI_E_USAGE);
    moirai_options_free(o);
    moirai_instance_free(x);
    free(t);
}
END_TEST

START_TEST(outputs_go_to_a_function)
{
    moirai_instance *x = make_instance(3, INT64_MAX, INT64_MAX);
    moirai_graph *g = make_chain(2), *again = NULL;
    moirai_cluster *c = make_cluster(1, 2), *other = NULL;
    text *t = calloc(1, sizeof *t);

    OK(moirai_emit(x, NULL, NULL, append, t, &why));
    ck_assert_ptr_nonnull(strstr(t->data, "Minimize"));
    ck_assert_int_eq(moirai_emit(x, NULL, NULL, refuse, NULL, &why),
                     MOIRAI_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "No space left"));
    ck_assert_int_eq(moirai_emit(x, NULL, NULL, NULL, NULL, &why),
                     MOIRAI_E_USAGE);
    t->size = 0;
    OK(moirai_graph_write(g, NULL, append, t, &why));
    OK(moirai_graph_read_memory("again", t->data, t->size, NULL, &again, &why));
    ck_assert_int_eq(moirai_graph_n_ops(again), 2);
    t->size = 0;
    OK(moirai_cluster_write(c, NULL, append, t, &why));
    OK(moirai_cluster_read_memory("again", t->data, t->size, &other, &why));
    ck_assert_int_eq(moirai_cluster_n_devices(other), 2);
    ck_assert_str_eq(moirai_cluster_device_id(other, 1), "b");
    ck_assert_ptr_null(moirai_cluster_device_id(other, 2));
    moirai_instance_free(x);
    moirai_graph_free(g);
    moirai_graph_free(again);
    moirai_cluster_free(c);
    moirai_cluster_free(other);
    free(t);
}
END_TEST

START_TEST(the_search_is_optimal_on_a_chain)
{
    moirai_instance *x = make_instance(6, INT64_MAX, INT64_MAX);
    moirai_placement *p = NULL;

    OK(moirai_place(x, alone, &p, &why));
    moirai_instance_free(x);
    ck_assert_int_eq(moirai_placement_makespan_ns(p), 60000);
    ck_assert_int_eq(moirai_placement_bound_ns(p), 60000);
    ck_assert(moirai_placement_gap(p) == 0);
    ck_assert_int_eq(moirai_placement_period_ns(p), -1);
    ck_assert_int_eq(moirai_placement_solver_bound_ns(p), 0);
    ck_assert_int_eq(moirai_placement_n_violations(p), 0);
    ck_assert_ptr_null(moirai_placement_violation(p, 0));
    ck_assert_int_eq(moirai_placement_n_transfers(p), 0);
    ck_assert_int_eq(moirai_placement_device(p, 5), 0);
    ck_assert_int_eq(moirai_placement_start_ns(p, 5), 50000);
    ck_assert_int_eq(moirai_placement_device(p, 6), -1);
    ck_assert_int_eq(moirai_placement_view(p)->n_ops, 6);
    moirai_placement_free(p);
}
END_TEST

START_TEST(a_placement_of_ones_own_is_judged)
{
    moirai_instance *x = make_instance(3, 2000, 2000);
    const int halves[] = { 0, 0, 1 }, one[] = { 0, 0, 0 }, none[] = { 0, 2, 0 };
    const int64_t wrong[] = { 20000, 10000, 0 };
    moirai_placement *p = NULL;
    moirai_transfer t;

    OK(moirai_placement_new(x, halves, NULL, &p, &why));
    ck_assert_int_eq(moirai_placement_n_violations(p), 0);
    ck_assert_int_eq(moirai_placement_makespan_ns(p), 44000);
    ck_assert_int_eq(moirai_placement_n_transfers(p), 1);
    ck_assert_int_eq(moirai_placement_transfer(p, 0, &t), 0);
    ck_assert(t.from == 0 && t.to == 1 && t.start_ns == 20000 &&
              t.end_ns == 24000);
    ck_assert_int_eq(moirai_placement_transfer(p, 1, &t), -1);
    moirai_placement_free(p);
    OK(moirai_placement_new(x, one, NULL, &p, &why));
    ck_assert_int_eq(moirai_placement_n_violations(p), 1);
    ck_assert_ptr_nonnull(strstr(moirai_placement_violation(p, 0), "(1d)"));
    moirai_placement_free(p);
    ck_assert_int_eq(moirai_placement_new(x, none, NULL, &p, &why),
                     MOIRAI_E_USAGE);
    ck_assert_int_eq(moirai_placement_new(x, halves, wrong, &p, &why),
                     MOIRAI_E_INPUT);
    moirai_instance_free(x);
}
END_TEST

/* The time between requests follows from the devices, with and without a limit
 * of requests in flight. */
START_TEST(a_placement_of_ones_own_has_the_period_of_its_devices)
{
    static const char *const rules[][2] = { { NULL, NULL },
                                            { "in-flight", "1" },
                                            { "memory", "live" } };
    moirai_graph *graph = make_chain(6);
    moirai_cluster *cluster = make_cluster(INT64_MAX, INT64_MAX);

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        moirai_options *o = NULL;
        moirai_instance *x = NULL;
        moirai_placement *found = NULL, *same = NULL;
        int device[6];

        OK(moirai_options_new(&o, &why));
        OK(moirai_options_set(o, "objective", "period", &why));
        if (rules[i][0])
            OK(moirai_options_set(o, rules[i][0], rules[i][1], &why));
        OK(moirai_instance_new(graph, cluster, NULL, o, &x, &why));
        OK(moirai_place(x, alone, &found, &why));
        for (int op = 0; op < 6; op++)
            device[op] = moirai_placement_device(found, op);
        OK(moirai_placement_new(x, device, NULL, &same, &why));
        ck_assert_msg(moirai_placement_n_violations(same) == 0, "%s",
                      moirai_placement_violation(same, 0));
        ck_assert_int_gt(moirai_placement_period_ns(found), 0);
        ck_assert_int_eq(moirai_placement_period_ns(same),
                         moirai_placement_period_ns(found));
        moirai_placement_free(same);
        moirai_placement_free(found);
        moirai_instance_free(x);
        moirai_options_free(o);
    }
    moirai_graph_free(graph);
    moirai_cluster_free(cluster);
}
END_TEST

START_TEST(memory_that_is_too_small_is_a_status)
{
    moirai_instance *x = make_instance(3, 1000, 1000);
    moirai_placement *p = NULL;

    ck_assert_int_eq(moirai_place(x, alone, &p, &why), MOIRAI_E_INFEASIBLE);
    ck_assert_ptr_null(p);
    moirai_instance_free(x);
}
END_TEST

START_TEST(a_written_placement_is_read_again)
{
    moirai_instance *x = make_instance(4, 2000, INT64_MAX);
    moirai_instance *other = make_instance(5, 2000, INT64_MAX);
    moirai_placement *p = NULL, *again = NULL;
    const char *path = "p.sol";

    OK(moirai_place(x, alone, &p, &why));
    OK(moirai_placement_write(p, path, NULL, NULL, &why));
    OK(moirai_placement_read(x, path, &again, &why));
    ck_assert_int_eq(moirai_placement_makespan_ns(again),
                     moirai_placement_makespan_ns(p));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(moirai_placement_device(again, i),
                         moirai_placement_device(p, i));
    moirai_placement_free(again);
    ck_assert_int_eq(moirai_placement_read(other, path, &again, &why),
                     MOIRAI_E_INPUT);
    moirai_placement_free(p);
    moirai_instance_free(x);
    moirai_instance_free(other);
}
END_TEST

static int stop_at_once(void *context, int64_t makespan_ns, int64_t bound_ns,
                        double seconds)
{
    (void) bound_ns, (void) seconds;
    ++*(int *) context;
    return makespan_ns != INT64_MAX;
}

START_TEST(progress_can_stop_the_search)
{
    moirai_instance *x = make_instance(30, 20000, 20000);
    moirai_options *o = NULL;
    moirai_placement *p = NULL;
    int calls = 0;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "assist", "none", &why));
    moirai_options_on_progress(o, stop_at_once, &calls);
    OK(moirai_place(x, o, &p, &why));
    ck_assert_int_ge(calls, 1);
    ck_assert_int_eq(moirai_placement_n_violations(p), 0);
    moirai_placement_free(p);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

START_TEST(cancelled_options_run_again_when_reset)
{
    moirai_instance *x = make_instance(3, INT64_MAX, INT64_MAX);
    moirai_options *o = NULL;
    moirai_placement *p = NULL;
    moirai_status status;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "assist", "none", &why));
    moirai_options_cancel(o, 1);
    status = moirai_place(x, o, &p, &why);
    ck_assert(status == MOIRAI_OK || status == MOIRAI_E_CANCELLED);
    if (status == MOIRAI_OK)
        moirai_placement_free(p);
    moirai_options_cancel(o, 0);
    OK(moirai_place(x, o, &p, &why));
    ck_assert(moirai_placement_gap(p) == 0);
    moirai_placement_free(p);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

static int forks;

static void count_fork(void)
{
    forks++;
}

START_TEST(placing_without_assistance_does_not_fork)
{
    moirai_instance *x = make_instance(30, 20000, 20000);
    moirai_options *o = NULL;
    moirai_placement *p = NULL;
    pid_t child;

    ck_assert_int_eq(pthread_atfork(count_fork, NULL, NULL), 0);
    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "assist", "none", &why));
    OK(moirai_options_set(o, "rounds", "3", &why));
    OK(moirai_place(x, o, &p, &why));
    ck_assert_int_eq(forks, 0);
    moirai_placement_free(p);
    moirai_options_free(o);
    moirai_instance_free(x);

    child = fork(); /* is counted */
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(forks, 1);
}
END_TEST

static void *place_in_thread(void *context)
{
    moirai_placement *p = NULL;
    int64_t makespan_ns = -1;

    if (moirai_place(context, alone, &p, NULL) == MOIRAI_OK)
        makespan_ns = moirai_placement_makespan_ns(p);
    moirai_placement_free(p);
    return makespan_ns == 60000 ? context : NULL;
}

START_TEST(threads_share_an_instance)
{
    moirai_instance *x = make_instance(6, INT64_MAX, INT64_MAX);
    pthread_t threads[3];
    void *result;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, place_in_thread, x),
                         0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        ck_assert_ptr_nonnull(result);
    }
    moirai_instance_free(x);
}
END_TEST

SUITE(library)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    tcase_add_checked_fixture(tests, make_options, free_options);
    TEST(an_error_has_file_line_and_text);
    TEST(options_are_checked);
    TEST(an_option_can_be_reset);
    TEST(a_graph_is_built_from_numbers);
    TEST(a_cycle_is_refused);
    TEST(a_view_has_the_numbers);
    TEST(a_limit_in_flight_is_for_the_period);
    TEST(a_transfer_can_have_a_time_of_its_own);
    TEST(models_can_have_a_search);
    TEST(outputs_go_to_a_function);
    TEST(the_search_is_optimal_on_a_chain);
    TEST(a_placement_of_ones_own_is_judged);
    TEST(a_placement_of_ones_own_has_the_period_of_its_devices);
    TEST(memory_that_is_too_small_is_a_status);
    TEST(a_written_placement_is_read_again);
    TEST(progress_can_stop_the_search);
    TEST(cancelled_options_run_again_when_reset);
    TEST(placing_without_assistance_does_not_fork);
    TEST(threads_share_an_instance);
}
