/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of baselines/cluster_ops.h. */
#include "solvers/search/baselines/cluster_ops.h"

#include "base/out.h"
#include "tests/support/dense_problem.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static mo_baseline_clustering *merge(const mo_instance *x, mo_tensors tensors,
                                     int most)
{
    mo_baseline_clustering *m = NULL;

    MUST(mo_baseline_cluster_ops(x, tensors, most, &m, &err));
    return m;
}

/* Numbers are topological, which no cycle would allow. */
static void check_flows(const mo_instance *x, const mo_baseline_clustering *m)
{
    for (int q = 0; q < x->n_flows; q++)
        ck_assert_int_le(m->cluster[x->flows[q].from],
                         m->cluster[x->flows[q].to]);
    for (int q = 0; q < m->x->n_flows; q++) {
        const mo_flow *f = &m->x->flows[q];

        ck_assert_int_lt(f->from, f->to);
        ck_assert_int_eq(m->x->tensor_from[f->tensor], f->from);
        ck_assert_int_ge(q, m->x->out_start[f->from]);
        ck_assert_int_lt(q, m->x->out_start[f->from + 1]);
        ck_assert_int_ge(q, m->x->tensor_start[f->tensor]);
        ck_assert_int_lt(q, m->x->tensor_start[f->tensor + 1]);
    }
    for (int c = 0; c < m->x->n; c++)
        for (int at = m->x->in_start[c]; at < m->x->in_start[c + 1]; at++)
            ck_assert_int_eq(m->x->flows[m->x->in_flows[at]].to, c);
    ck_assert_int_eq(m->x->in_start[m->x->n], m->x->n_flows);
}

static int64_t all_memory(const mo_instance *x)
{
    int64_t sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += x->memory_bytes[i] + x->weight_bytes[i];
    return sum;
}

static int64_t all_work(const mo_instance *x, int device)
{
    int64_t sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += mo_instance_p_ns(x, i, device);
    return sum;
}

static void check_ops(const mo_instance *x, const mo_baseline_clustering *m)
{
    for (int i = 0; i < x->n; i++) {
        int c = m->cluster[i];

        if (x->pin[i] != MO_FREE)
            ck_assert_int_eq(m->x->pin[c], x->pin[i]);
        if (x->group[i] != MO_FREE)
            ck_assert_int_eq(m->x->group[c], x->group[i]);
    }
    for (int k = 0; k < x->n_devices; k++)
        ck_assert_int_eq(all_work(m->x, k), all_work(x, k));
    ck_assert_int_eq(all_memory(m->x), all_memory(x));
}

/* Returns the transfer time from device a to b for ops of a cluster that read
 * the tensor of a flow, with that flow the first of them; else 0. */
static int64_t crossing_ns(const mo_instance *x,
                           const mo_baseline_clustering *m, mo_tensors tensors,
                           int flow, int a, int b)
{
    const mo_flow *f = &x->flows[flow];
    int64_t longest_ns = mo_instance_flow_ns(x, flow, a, b);

    if (m->cluster[f->from] == m->cluster[f->to])
        return 0;
    if (tensors == MO_TENSORS_PER_EDGE)
        return longest_ns;
    for (int q = x->tensor_start[f->tensor]; q < x->tensor_start[f->tensor + 1];
         q++) {
        if (m->cluster[x->flows[q].to] != m->cluster[f->to])
            continue;
        if (q < flow)
            return 0;
        if (mo_instance_flow_ns(x, q, a, b) > longest_ns)
            longest_ns = mo_instance_flow_ns(x, q, a, b);
    }
    return longest_ns;
}

/* Two clusters have one flow at most, and all together take as long as the
 * flows between them. */
static void check_crossings(const mo_instance *x,
                            const mo_baseline_clustering *m, mo_tensors tensors)
{
    int64_t sent_ns = 0, merged_ns = 0;

    for (int q = 0; q < x->n_flows; q++)
        sent_ns += crossing_ns(x, m, tensors, q, 0, 1);
    for (int q = 0; q < m->x->n_flows; q++) {
        merged_ns += mo_instance_flow_ns(m->x, q, 0, 1);
        ck_assert(q == 0 || m->x->flows[q].from != m->x->flows[q - 1].from ||
                  m->x->flows[q].to > m->x->flows[q - 1].to);
    }
    ck_assert_int_eq(merged_ns, sent_ns);
}

START_TEST(many_ops_are_merged_without_cycles)
{
    mo_tensors tensors = _i % 2 ? MO_TENSORS_ONCE : MO_TENSORS_PER_EDGE;
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int most = 1; most <= p.x->n; most += 1 + most / 2) {
        mo_baseline_clustering *m = merge(p.x, tensors, most);

        check_flows(p.x, m);
        check_ops(p.x, m);
        check_crossings(p.x, m, tensors);
        mo_baseline_clustering_free(m);
    }
    problem_clear(&p);
}
END_TEST

/* Ops read up to three earlier ones. */
static void make_wide(problem *p, unsigned seed, int n)
{
    test_random random = { seed };
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "* t.A=1 t.B=2; *>* bytes=8;");
    for (int i = 0; i < n; i++) {
        mo_out_printf(out, "n%d;", i);
        for (int r = random_below(&random, 4); i > 0 && r > 0; r--)
            mo_out_printf(out, "n%d>n%d tensor=t%d;", random_below(&random, i),
                          i, r);
    }
    text = mo_out_take(out, &size);
    MUST(mo_out_commit(out, &err));
    problem_make(p, text, "A; B; A-B gbps=8", NULL);
    free(text);
}

/* Without pins the number is reached, exactly. */
START_TEST(the_wanted_number_is_left)
{
    static const int wanted[] = { 1, 7, 200, 2000 };
    problem p = { 0 };

    make_wide(&p, (unsigned) _i, 2000);
    for (int i = 0; i < COUNT(wanted); i++) {
        mo_baseline_clustering *m = merge(p.x, MO_TENSORS_ONCE, wanted[i]);

        ck_assert_int_eq(m->x->n, wanted[i]);
        check_flows(p.x, m);
        check_ops(p.x, m);
        mo_baseline_clustering_free(m);
    }
    problem_clear(&p);
}
END_TEST

/* The transfer between c and d takes longest. */
START_TEST(what_takes_long_to_send_stays_together)
{
    problem p = { 0 };
    mo_baseline_clustering *m;

    problem_make(&p,
                 "* t.A=1 t.B=1; a; b; c; d; a>b bytes=10; b>c bytes=10; "
                 "c>d bytes=5000",
                 "A; B; A-B gbps=8", NULL);
    m = merge(p.x, MO_TENSORS_PER_EDGE, 3);
    ck_assert_int_eq(m->cluster[problem_op(&p, "c")],
                     m->cluster[problem_op(&p, "d")]);
    ck_assert_int_eq(m->x->n, 3);
    ck_assert_int_eq(mo_instance_p_ns(m->x, 2, 0), 2000);
    mo_baseline_clustering_free(m);
    problem_clear(&p);
}
END_TEST

START_TEST(different_pins_stay_apart)
{
    problem p = { 0 };
    mo_baseline_clustering *m;

    problem_make(&p, "* t.A=1 t.B=1; a pin=A; b pin=B; a>b bytes=10",
                 "A; B; A-B gbps=8", NULL);
    m = merge(p.x, MO_TENSORS_PER_EDGE, 1);
    ck_assert_int_eq(m->x->n, 2);
    mo_baseline_clustering_free(m);
    problem_clear(&p);
}
END_TEST

SUITE(cluster_ops)
{
    SOME(many_ops_are_merged_without_cycles, 100, 5);
    SOME(the_wanted_number_is_left, 10, 1);
    TEST(what_takes_long_to_send_stays_together);
    TEST(different_pins_stay_apart);
}
