/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/bound/forkjoin/fork_join.h: hand-made cases, then
 * the definition on random graphs. */
#include "solvers/search/bound/forkjoin/fork_join.h"

#include <stdio.h>

#include "base/random.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/suite.h"

enum { ROOM = 1 << 16 };

static void fork_make(fork_join_case *f, const char *graph, mo_tensors tensors)
{
    const mo_regime regime = { MO_CONGESTION_PORT, tensors, MO_MEMORY_STATIC };

    fork_join_case_make(f, graph, "A; B; A-B gbps=8", &regime);
}

#define TIMES "* t.A=2 t.B=3; *>* bytes=8;"

START_TEST(an_empty_segment_has_no_branches)
{
    fork_join_case f;

    fork_make(&f, TIMES "u; v; u>v", MO_TENSORS_ONCE);
    ck_assert_int_eq(f.fork->n_classes, 0);
    ck_assert(f.fork->relaxed); /* u>v itself is in no branch */
    fork_join_case_clear(&f);
}
END_TEST

/* Classes as "count x ops", the largest first. */
static const struct {
    const char *graph, *classes;
    bool relaxed;
} forks[] = {
    /* three chains */
    { TIMES "u; a; b; c; d; e; f; v;"
            "u>a; a>b; b>v; u>c; c>d; d>v; u>e; e>f; f>v",
      "3x2", false },
    /* connected, and isomorphic in any order of inputs */
    { TIMES "u; a; b t.A=9; c; d; e t.A=9; f; v;"
            "u>a; u>b; a>c; b>c; c>v; u>e; u>d; e>f; d>f; f>v",
      "2x3", false },
    /* a different time, device, size or input from u makes another class */
    { TIMES "u; a; b; c t.A=9; v; u>a; u>b; u>c; a>v; b>v; c>v", "2x1 1x1",
      false },
    { TIMES "u; a; b; c pin=A; v; u>a; u>b; u>c; a>v; b>v; c>v", "2x1 1x1",
      false },
    { TIMES "u; a; b; c; v; u>a; u>b; u>c; a>v; b>v; c>v bytes=80", "2x1 1x1",
      false },
    { TIMES "u; a; b; c; d; e; v; u>a; a>b; b>v; u>c; c>d; d>v; u>d; u>e; e>v",
      "1x2 1x2 1x1", false },
    /* times on excluded devices are ignored */
    { TIMES "u; a pin=A; b t.B=7 pin=A; v; u>a; u>b; a>v; b>v", "2x1", false },
    /* a is read by b and c: c has the longer tail */
    { TIMES "u; a; b; c t.A=9 t.B=9; v; u>a; a>b; a>c; b>v; c>v", "1x2 1x1",
      true },
    /* and by v */
    { TIMES "u; a; b; v; u>a; a>b; a>v; b>v", "1x2", true },
    /* without v, without u */
    { TIMES "u; a; b; c; d; u>a; a>b; u>c; c>d", "2x2", false },
    { TIMES "a; b; c; d; v; a>b; c>d; b>v; d>v", "2x2", false },
    { TIMES "a; b; c", "3x1", false },
};

static void write_classes(const mo_forkjoin *fork, char *text, size_t size)
{
    size_t at = 0;

    for (int c = 0; c < fork->n_classes; c++)
        at += (size_t) snprintf(text + at, size - at, "%s%dx%d", c ? " " : "",
                                fork->classes[c].count, fork->classes[c].n);
}

START_TEST(equal_branches_are_one_class)
{
    char text[256] = "";
    fork_join_case f;

    fork_make(&f, forks[_i].graph, MO_TENSORS_PER_EDGE);
    write_classes(f.fork, text, sizeof text);
    ck_assert_str_eq(text, forks[_i].classes);
    ck_assert_int_eq(f.fork->relaxed, forks[_i].relaxed);
    fork_join_case_clear(&f);
}
END_TEST

/* Returns the row of transfer times from u to an op. */
static int u_row_of(const fork_join_case *f, const char *name)
{
    int op = problem_op(&f->problem, name);

    for (int c = 0; c < f->fork->n_classes; c++) {
        const mo_forkjoin_class *class = &f->fork->classes[c];
        for (int i = 0; i < class->n * class->count; i++)
            if (class->members[i] == op)
                return class->ops[i % class->n].u_row;
    }
    ck_abort_msg("no branch has %s", name);
    return -1;
}

START_TEST(one_tensor_of_u_is_broadcast)
{
    const char *graph =
        TIMES "u; a; b; c; d; v; a>v; b>v; c>v; d>v; u>a bytes=8 tensor=y;"
              "u>b bytes=8 tensor=y; u>c bytes=8 tensor=y;"
              "u>c bytes=800 tensor=z; u>d bytes=80 tensor=w";
    fork_join_case f;

    fork_make(&f, graph, MO_TENSORS_ONCE);
    ck_assert_int_ge(f.fork->broadcast_row, 0);
    ck_assert_int_eq(u_row_of(&f, "a"), f.fork->broadcast_row);
    ck_assert_int_eq(u_row_of(&f, "c"), f.fork->broadcast_row);
    ck_assert_int_ge(u_row_of(&f, "d"), 0);
    ck_assert_int_ne(u_row_of(&f, "d"), f.fork->broadcast_row);
    ck_assert(f.fork->relaxed); /* z */
    fork_join_case_clear(&f);

    fork_make(&f, graph, MO_TENSORS_PER_EDGE);
    ck_assert_int_eq(f.fork->broadcast_row, -1);
    ck_assert_int_ne(u_row_of(&f, "c"),
                     u_row_of(&f, "a")); /* the longer one, z */
    fork_join_case_clear(&f);
}
END_TEST

/* z has two readers, y has three: z may arrive for both at once. */
START_TEST(another_tensor_with_two_readers_is_dropped)
{
    fork_join_case f;

    fork_make(&f,
              TIMES "u; a; b; c; d; e; v; a>v; b>v; c>v; d>v; e>v;"
                    "u>a bytes=8 tensor=y; u>b bytes=8 tensor=y;"
                    "u>c bytes=8 tensor=y; u>d bytes=80 tensor=z;"
                    "u>e bytes=80 tensor=z",
              MO_TENSORS_ONCE);
    ck_assert_int_eq(u_row_of(&f, "b"), f.fork->broadcast_row);
    ck_assert_int_eq(u_row_of(&f, "d"), -1);
    ck_assert_int_eq(u_row_of(&f, "e"), -1);
    ck_assert(f.fork->relaxed);
    fork_join_case_clear(&f);
}
END_TEST

/* Branches of few shapes, with random additional flows. */
static char *random_graph(unsigned seed)
{
    mo_random r = { seed };
    char *text = calloc(1, ROOM);
    int n = 1 + mo_random_below(&r, 20);
    size_t at = (size_t) snprintf(text, ROOM, TIMES "u;");

    for (int i = 0; i < n; i++)
        at += (size_t) snprintf(text + at, ROOM - at, "o%d t.A=%d t.B=%d%s;", i,
                                1 + mo_random_below(&r, 2),
                                1 + mo_random_below(&r, 2),
                                mo_random_below(&r, 8) ? "" : " pin=A");
    at += (size_t) snprintf(text + at, ROOM - at, "v");
    for (int i = 0; i < n; i++) {
        bool reads = false;
        for (int j = 0; j < i; j++)
            if (mo_random_below(&r, n) < 2) {
                at += (size_t) snprintf(text + at, ROOM - at, ";o%d>o%d", j, i);
                reads = true;
            }
        if (!reads || !mo_random_below(&r, 4))
            at += (size_t) snprintf(text + at, ROOM - at, ";u>o%d", i);
        at += (size_t) snprintf(text + at, ROOM - at, ";o%d>v", i);
    }
    return text;
}

static bool has_flow(const mo_instance *x, int from, int to, int row)
{
    for (int q = x->out_start[from]; q < x->out_start[from + 1]; q++)
        if (x->flows[q].to == to && x->comm.flow_row[q] == row)
            return true;
    return false;
}

/* Op j of branch r is equal to that of the class, and its flows are in the
 * graph. */
static void check_member(const fork_join_case *f,
                         const mo_forkjoin_class *class, int r, int j)
{
    const mo_instance *x = f->problem.x;
    const mo_forkjoin_op *expected = &class->ops[j];
    const int *branch = class->members + r * class->n;

    for (int k = 0; k < x->n_devices; k++) {
        bool may = mo_allowed_devices_has(&f->places, expected->op, k);
        ck_assert_int_eq(mo_allowed_devices_has(&f->places, branch[j], k), may);
        if (may)
            ck_assert_int_eq(mo_instance_p_ns(x, branch[j], k),
                             mo_instance_p_ns(x, expected->op, k));
    }
    if (expected->reader == MO_FREE)
        ck_assert(has_flow(x, branch[j], f->segment.v, expected->row));
    else
        ck_assert(
            has_flow(x, branch[j], branch[expected->reader], expected->row));
    ck_assert(expected->reader == MO_FREE || expected->reader > j);
    ck_assert(expected->u_row < 0 ||
              has_flow(x, f->segment.u, branch[j], expected->u_row));
}

START_TEST(branches_are_subgraphs_and_isomorphic)
{
    char *graph = random_graph((unsigned) _i);
    int seen[32] = { 0 }, sum = 0;
    fork_join_case f;

    fork_make(&f, graph, MO_TENSORS_PER_EDGE);
    for (int c = 0; c < f.fork->n_classes; c++) {
        const mo_forkjoin_class *class = &f.fork->classes[c];
        ck_assert_int_eq(class->ops[0].op, class->members[0]);
        for (int i = 0; i < class->n * class->count; i++) {
            check_member(&f, class, i / class->n, i % class->n);
            ck_assert_msg(!seen[class->members[i]]++, "seed %d", _i);
            sum++;
        }
    }
    ck_assert_msg(sum == f.segment.n, "seed %d", _i);
    fork_join_case_clear(&f);
    free(graph);
}
END_TEST

/* Ten thousand ops in a chain, or in parallel: no deep recursion, and fast. */
START_TEST(long_and_wide_forks_are_found)
{
    enum { MANY = 10000 };
    size_t room = MANY * 32, at;
    char *text = calloc(1, room);
    fork_join_case f;

    at = (size_t) snprintf(text, room, TIMES "u;");
    for (int i = 0; i < MANY; i++)
        at += (size_t) snprintf(text + at, room - at, "o%d;", i);
    at += (size_t) snprintf(text + at, room - at, "v;u>o0");
    for (int i = 0; i + 1 < MANY; i++)
        at +=
            _i ? (size_t) snprintf(text + at, room - at, ";o%d>v", i)
               : (size_t) snprintf(text + at, room - at, ";o%d>o%d", i, i + 1);
    snprintf(text + at, room - at, ";o%d>v", MANY - 1);
    fork_make(&f, text, MO_TENSORS_ONCE);
    ck_assert_int_eq(f.fork->n_classes, _i ? 2 : 1); /* o0 reads u */
    ck_assert_int_eq(f.fork->classes[0].count, _i ? MANY - 1 : 1);
    fork_join_case_clear(&f);
    free(text);
}
END_TEST

SUITE(fork_join)
{
    TEST(an_empty_segment_has_no_branches);
    EACH(equal_branches_are_one_class, COUNT(forks));
    TEST(one_tensor_of_u_is_broadcast);
    TEST(another_tensor_with_two_readers_is_dropped);
    SOME(branches_are_subgraphs_and_isomorphic, 300, 20);
    EACH(long_and_wide_forks_are_found, 2);
}
