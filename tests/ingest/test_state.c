/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/state.h: states stay on one device and count as memory. */
#include "ingest/state.h"

#include "ingest/operator.h"
#include "ingest/read.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const struct {
    const char *graph; /* of problem.h */
    const char *group; /* the ops that share a device */
} cases[] = {
    /* The input with its readers, the output with what it stores. */
    { "r op=ReadValue output_bytes=8 attrs={\"variable_id\":\"k\"}; x; c; s; "
      "w op=Assign attrs={\"variable_id\":\"k\"}; r>c; x>c; c>w; c>s",
      "c r w" },
    { "r op=ReadValue output_bytes=8 attrs={\"variable_id\":\"k\"}; v; "
      "w op=Assign attrs={\"variable_id\":\"other\"}; r>v; v>w",
      "r v w" },
    /* Named ones: readers of the output may be elsewhere. */
    { "p op=Parameter state=kv output_bytes=8; a; n state=kv; b; "
      "p>a; a>n; n>b",
      "a n p" },
    { "p op=Parameter state=kv output_bytes=8; a; n; o op=Result state=kv; "
      "p>a; a>n; n>o",
      "a n o p" },
    /* A group that a state joins. */
    { "p state=kv output_bytes=8; a colocate=g; b colocate=g; c; p>a; b>c; "
      "a>c",
      "a b p" },
    { "a; b; a>b", "" },
};

static mo_graph *graph_with_states(const char *text)
{
    mo_graph *g = problem_graph(text);

    mo_operator_resolve(g);
    MUST(mo_state_apply(g, &err));
    return g;
}

START_TEST(a_state_is_not_sent)
{
    mo_graph *g = graph_with_states(cases[_i].graph);
    int ids[16], n = 0;

    for (char name = 'a'; name <= 'z'; name++) {
        int op = mo_graph_find(g, (const char[]){ name, 0 });

        if (op >= 0 && g->ops[op].colocate) {
            ids[n++] = op;
            ck_assert_str_eq(g->ops[op].colocate, g->ops[ids[0]].colocate);
        }
    }
    ck_assert_str_eq(names_of(g, ids, n), cases[_i].group);
    mo_graph_free(g);
}
END_TEST

START_TEST(its_bytes_are_in_memory_once)
{
    for (int i = 0; i < COUNT(cases) - 1; i++) {
        mo_graph *g = graph_with_states(cases[i].graph);
        int64_t sum = 0, resident = 0;
        uint64_t digests[2];

        for (int k = 0; k < g->n_ops; k++) {
            sum += g->ops[k].memory_bytes;
            resident += g->ops[k].weight_bytes > 0 ? g->ops[k].weight_bytes : 0;
        }
        ck_assert_int_eq(sum, 8);
        ck_assert_int_eq(resident, 8);
        MUST(mo_graph_digest(g, &digests[0], &err));
        MUST(mo_state_apply(g, &err));
        MUST(mo_graph_digest(g, &digests[1], &err));
        ck_assert(digests[0] == digests[1]);
        mo_graph_free(g);
    }
}
END_TEST

SUITE(state)
{
    EACH(a_state_is_not_sent, COUNT(cases));
    TEST(its_bytes_are_in_memory_once);
}
