/* Claims of coarsen/gcof.h, on graphs in the one-line form. */
#include "coarsen/gcof.h"

#include <stdio.h>
#include <string.h>

#include "tests/graphs.h"
#include "tests/suite.h"

static mo_rules *rules_of(const char *text)
{
    mo_rules *rules = NULL;

    MUST(mo_rules_parse("rules", text, strlen(text), &rules, &err));
    return rules;
}

/* "a+b c": the groups of g in the order of their first members. */
static const char *groups_of(const mo_graph *g, const mo_rules *rules)
{
    static char text[4096];
    int group[64], n_groups, used = 0;

    ck_assert_int_le(g->n_ops, 64);
    MUST(mo_gcof_match(g, rules, group, &n_groups, &err));
    for (int k = 0; k < n_groups; k++) {
        int n = 0;

        for (int i = 0; i < g->n_ops; i++)
            if (group[i] == k)
                used += snprintf(text + used, sizeof text - (size_t) used,
                                 "%s%s", n++ ? "+" : k ? " " : "",
                                 g->ops[i].name);
    }
    text[used] = '\0';
    return text;
}

#define EIGEN "conv bn\nconv bn relu\nconv bn add relu\n"

static const struct {
    const char *rules, *graph, *groups;
} cases[] = {
    { EIGEN, "a:conv -> b:bn -> c:relu", "a+b+c" },
    { EIGEN, "a:conv -> b:bn -> c:pool", "a+b c" },
    { EIGEN, "a:conv -> b:relu", "a b" },
    /* The first rule that would fit is not the longest. */
    { EIGEN, "a:conv -> b:bn -> c:add -> d:relu; x:conv -> c", "a+b+c+d x" },
    /* A prefix that never completes is let go, what it held as well. */
    { EIGEN, "a:conv -> b:bn -> c:add -> d:pool", "a+b c d" },
    /* An output that goes elsewhere too stays visible. */
    { EIGEN, "a:conv -> b:bn -> c:relu; a -> d:pool", "a b c d" },
    { EIGEN, "a:conv -> b:bn -> c:relu; b -> d:pool", "a+b c d" },
    /* The end of a chain may go wherever it likes. */
    { EIGEN, "a:conv -> b:bn -> c:relu; c -> d:pool; c -> e:pool", "a+b+c d e" },
    /* Two chains meet: one of them takes the meeting point, the first. */
    { EIGEN,
      "a:conv -> b:bn -> e:add -> f:relu; c:conv -> d:bn -> e",
      "a+b+e+f c+d" },
    /* A longer chain wins over one that starts earlier. */
    { "x add\nconv bn add\n", "a:x -> d:add; b:conv -> c:bn -> d", "a b+c+d" },
    /* Every op is used once. */
    { "relu relu\n", "a:relu -> b:relu -> c:relu", "a+b c" },
    { "p q\nq r\n", "a:p -> b:q -> c:r", "a+b c" },
    /* Types are classes: any convolution is conv, an Add of a constant bias. */
    { "conv bias act\n",
      "a:GroupConvolution -> b:Add -> c:Sigmoid; $w -> b", "a+b+c" },
    { "conv bias act\n", "a:Conv -> b:Add -> c:Relu; x:Conv -> b", "a x b c" },
    { "matmul bias gelu\n", "a:aten.mm.default -> b:add -> c:gelu", "a+b+c" },
    /* Parallel edges are one connection. */
    { "conv add\n", "a:conv -> b:add; a -> b", "a+b" },
    { "", "a:conv -> b:bn", "a b" },
    { EIGEN, "", "" },
};

START_TEST(chains_that_spell_a_rule_are_fused)
{
    mo_graph *g = graph_of(cases[_i].graph);
    mo_rules *rules = rules_of(cases[_i].rules);

    ck_assert_str_eq(groups_of(g, rules), cases[_i].groups);
    mo_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

/* The figure of the paper: the first add feeds two branches, so it keeps its
 * relu apart; the middle pair is bound and let go; the last pair joins conv2. */
START_TEST(the_example_of_the_paper_comes_out_as_printed)
{
    mo_graph *g = graph_of("add1:add -> relu1:relu -> add2:add -> relu2:relu "
                           "-> add3:add -> relu3:relu; "
                           "add1 -> conv1:conv -> bn1:bn -> conv2:conv "
                           "-> bn2:bn -> add3; x:pool -> add2");
    mo_rules *rules = rules_of(EIGEN);

    ck_assert_str_eq(groups_of(g, rules),
                     "add1 conv1+bn1 conv2+bn2+add3+relu3 relu1 x add2 relu2");
    mo_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

START_TEST(pinned_and_colocated_ops_stay_apart)
{
    mo_graph *g = graph_of("a:conv -> b:bn -> c:relu");
    mo_rules *rules = rules_of(EIGEN);

    g->ops[2].pin = "A";
    ck_assert_str_eq(groups_of(g, rules), "a+b c");
    g->ops[0].pin = g->ops[1].pin = "A";
    ck_assert_str_eq(groups_of(g, rules), "a+b+c");
    g->ops[1].colocate = "x";
    ck_assert_str_eq(groups_of(g, rules), "a b c");
    mo_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

START_TEST(outputs_of_the_network_stay_visible)
{
    mo_graph *g = graph_of("a:conv -> b:bn -> c:relu");
    mo_rules *rules = rules_of(EIGEN);

    g->ops[1].is_output = true;
    ck_assert_str_eq(groups_of(g, rules), "a+b c");
    mo_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

/* Random graphs over the types of a rule set that overlaps with itself. */
static mo_graph *typed_graph(unsigned seed)
{
    static const char *const types[] = { "conv", "bn",  "add",
                                         "relu", "pool", "matmul" };
    mo_graph *g = random_graph(seed, 1 + (int) (seed % 40));
    test_random random = { seed };

    for (int i = 0; i < g->n_ops; i++) {
        g->ops[i].type = types[random_below(&random, COUNT(types))];
        g->ops[i].flops = random_below(&random, 1000);
        g->ops[i].pin = random_below(&random, 6) == 0 ? "A" : NULL;
    }
    return g;
}

static const char *const overlapping =
    "conv bn\nconv bn relu\nconv bn add relu\nadd relu\nrelu add\n"
    "bn relu\nmatmul add relu\n";

static double total_flops(const mo_graph *g)
{
    double sum = 0;

    for (int i = 0; i < g->n_ops; i++)
        sum += g->ops[i].flops;
    return sum;
}

/* mo_contract refuses cycles, so that it succeeds says there is none. */
START_TEST(any_graph_coarsens_to_a_dag_with_the_same_work)
{
    mo_graph *g = typed_graph((unsigned) _i), *coarse = NULL, *again = NULL;
    mo_rules *rules = rules_of(overlapping);
    mo_gcof_options how = { .rules = rules };
    mo_map *map = NULL, *second = NULL;

    MUST(mo_gcof(g, &how, &coarse, &map, &err));
    ck_assert_msg(total_flops(g) == total_flops(coarse), "seed %d", _i);
    for (int i = 0; i < g->n_ops; i++) {
        const char *pin = coarse->ops[map->coarse_of[i]].pin;
        ck_assert_msg((pin != NULL) == (g->ops[i].pin != NULL), "seed %d", _i);
    }
    for (int e = 0; e < g->n_edges; e++)
        ck_assert_msg(map->coarse_of[g->edges[e].from] <=
                          map->coarse_of[g->edges[e].to],
                      "seed %d: order", _i);
    MUST(mo_gcof(coarse, &how, &again, &second, &err));
    ck_assert_msg(again->n_ops == coarse->n_ops, "seed %d: not idempotent", _i);
    mo_graph_free(again);
    mo_graph_free(coarse);
    mo_graph_free(g);
    mo_map_free(map);
    mo_map_free(second);
    mo_rules_free(rules);
}
END_TEST

SUITE(gcof)
{
    EACH(chains_that_spell_a_rule_are_fused, COUNT(cases));
    TEST(the_example_of_the_paper_comes_out_as_printed);
    TEST(pinned_and_colocated_ops_stay_apart);
    TEST(outputs_of_the_network_stay_visible);
    EACH(any_graph_coarsens_to_a_dag_with_the_same_work, 2000);
}
