/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coarsen/gcof.h, on graphs in the one-line form. */
#include "coarsen/gcof.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

static mo_fusion_rules *rules_of(const char *text)
{
    mo_fusion_rules *rules = NULL;

    MUST(mo_fusion_rules_parse("rules", text, strlen(text), &rules, &err));
    return rules;
}

/* "a+b c": the groups of g in the order of their first members. */
static const char *groups_of(const mo_graph *g, const mo_fusion_rules *rules)
{
    static char text[4096];
    int group[64], n_groups, used = 0;

    ck_assert_int_le(g->n_ops, 64);
    MUST(mo_gcof_match(g, rules, group, &n_groups, &err));
    for (int k = 0; k < n_groups; k++) {
        int n = 0;

        for (int i = 0; i < g->n_ops; i++)
            if (group[i] == k)
                used +=
                    snprintf(text + used, sizeof text - (size_t) used, "%s%s",
                             n++ ? "+"
                             : k ? " "
                                 : "",
                             g->ops[i].name);
    }
    text[used] = '\0';
    return text;
}

#define EIGEN "conv bn\nconv bn relu\nconv bn add relu\n"

/* A bias before a normalization does not keep a set from fusing both: types of
 * ONNX, OpenVINO and GraphML files. */
START_TEST(a_bias_does_not_block_a_normalization)
{
    static const struct {
        const char *plain, *with_bias;
    } chains[] = {
        { "a:Conv -> c:BatchNormalization -> d:Relu",
          "a:Conv -> b:Add -> c:BatchNormalization -> d:Relu; $w -> b" },
        { "a:Convolution -> c:BatchNormInference -> d:ReLU",
          "a:Convolution -> b:Add -> c:BatchNormInference -> d:ReLU; $w -> b" },
        { "a:conv -> c:bn -> e:add -> d:relu; x:conv -> e",
          "a:conv -> b:add -> c:bn -> e:add -> d:relu; x:conv -> e" },
    };
    mo_fusion_rules *rules = NULL;
    int fused = 0;

    for (const mo_fusion_rule_set *set = mo_fusion_rule_sets; set->name;
         set++) {
        MUST(mo_fusion_rules_load(set->name, &rules, &err));
        for (size_t i = 0; i < COUNT(chains); i++) {
            mo_graph *g = graph_of(chains[i].plain);

            if (strncmp(groups_of(g, rules), "a+c", 3) == 0) {
                mo_graph_free(g);
                g = graph_of(chains[i].with_bias);
                ck_assert_msg(strncmp(groups_of(g, rules), "a+b+c", 5) == 0,
                              "%s: %s", set->name, groups_of(g, rules));
                ck_assert_ptr_nonnull(strstr(groups_of(g, rules), "+d"));
                fused++;
            }
            mo_graph_free(g);
        }
        mo_fusion_rules_free(rules);
    }
    ck_assert_int_eq(fused, 4 * COUNT(chains));
}
END_TEST

static const struct {
    const char *rules, *graph, *groups;
} cases[] = {
    { EIGEN, "a:conv -> b:bn -> c:relu", "a+b+c" },
    { EIGEN, "a:conv -> b:bn -> c:pool", "a+b c" },
    { EIGEN, "a:conv -> b:relu", "a b" },
    /* The first rule that would fit is not the longest. */
    { EIGEN, "a:conv -> b:bn -> c:add -> d:relu; x:conv -> c", "a+b+c+d x" },
    /* A prefix that never completes is released. */
    { EIGEN, "a:conv -> b:bn -> c:add -> d:pool", "a+b c d" },
    /* An output that goes elsewhere too stays visible. */
    { EIGEN, "a:conv -> b:bn -> c:relu; a -> d:pool", "a b c d" },
    { EIGEN, "a:conv -> b:bn -> c:relu; b -> d:pool", "a+b c d" },
    /* The end of a chain may have any readers. */
    { EIGEN, "a:conv -> b:bn -> c:relu; c -> d:pool; c -> e:pool",
      "a+b+c d e" },
    /* Two chains meet: the first one takes the common op. */
    { EIGEN, "a:conv -> b:bn -> e:add -> f:relu; c:conv -> d:bn -> e",
      "a+b+e+f c+d" },
    /* A longer chain wins over one that starts earlier. */
    { "x add\nconv bn add\n", "a:x -> d:add; b:conv -> c:bn -> d", "a b+c+d" },
    /* Every op is used once. */
    { "relu relu\n", "a:relu -> b:relu -> c:relu", "a+b c" },
    { "p q\nq r\n", "a:p -> b:q -> c:r", "a+b c" },
    /* Types are classes: any convolution is conv, an Add of a constant bias. */
    { "conv bias act\n", "a:GroupConvolution -> b:Add -> c:Sigmoid; $w -> b",
      "a+b+c" },
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
    mo_fusion_rules *rules = rules_of(cases[_i].rules);

    ck_assert_str_eq(groups_of(g, rules), cases[_i].groups);
    mo_fusion_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

/* The figure of the paper: the first add feeds two branches, so its relu stays
 * apart; the middle pair is bound and released; the last pair joins conv2. */
START_TEST(the_example_of_the_paper_comes_out_as_printed)
{
    mo_graph *g = graph_of("add1:add -> relu1:relu -> add2:add -> relu2:relu "
                           "-> add3:add -> relu3:relu; "
                           "add1 -> conv1:conv -> bn1:bn -> conv2:conv "
                           "-> bn2:bn -> add3; x:pool -> add2");
    mo_fusion_rules *rules = rules_of(EIGEN);

    ck_assert_str_eq(groups_of(g, rules),
                     "add1 conv1+bn1 conv2+bn2+add3+relu3 relu1 x add2 relu2");
    mo_fusion_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

START_TEST(pinned_and_colocated_ops_stay_apart)
{
    mo_graph *g = graph_of("a:conv -> b:bn -> c:relu");
    mo_fusion_rules *rules = rules_of(EIGEN);

    g->ops[2].pin = "A";
    ck_assert_str_eq(groups_of(g, rules), "a+b c");
    g->ops[0].pin = g->ops[1].pin = "A";
    ck_assert_str_eq(groups_of(g, rules), "a+b+c");
    g->ops[1].colocate = "x";
    ck_assert_str_eq(groups_of(g, rules), "a b c");
    mo_fusion_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

START_TEST(outputs_of_the_network_stay_visible)
{
    mo_graph *g = graph_of("a:conv -> b:bn -> c:relu");
    mo_fusion_rules *rules = rules_of(EIGEN);

    g->ops[1].is_output = true;
    ck_assert_str_eq(groups_of(g, rules), "a+b c");
    mo_fusion_rules_free(rules);
    mo_graph_free(g);
}
END_TEST

/* Number of random graphs per process. */
enum { SEEDS = 20 };

/* Random graphs over the types of a rule set that overlaps with itself. */
static mo_graph *typed_graph(unsigned seed, unsigned permutation)
{
    static const char *const types[] = { "conv", "bn",   "add",
                                         "relu", "pool", "matmul" };
    mo_graph *g =
        random_graph_permuted(seed, 1 + (int) (seed % 40), permutation);
    test_random random = { seed };

    for (int i = 0; i < g->n_ops; i++) {
        g->ops[i].type = types[random_below(&random, COUNT(types))];
        g->ops[i].flops = random_below(&random, 1000);
        g->ops[i].pin = random_below(&random, 6) == 0 ? "A" : NULL;
        g->ops[i].colocate = random_below(&random, 9) == 0 ? "x" : NULL;
        g->ops[i].is_output = random_below(&random, 9) == 0;
    }
    mo_operator_resolve(g);
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

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The definition: may a and its reader b be neighbours in a group? */
static bool is_link(const mo_graph *g, int a, int b)
{
    bool reads = false;

    for (int e = 0; e < g->n_edges; e++)
        if (g->edges[e].from == a) {
            if (g->edges[e].to != b)
                return false;
            reads = true;
        }
    return reads && !g->ops[a].is_output &&
           same_text(g->ops[a].pin, g->ops[b].pin) &&
           same_text(g->ops[a].colocate, g->ops[b].colocate);
}

static bool spells(const mo_graph *g, const int *ops, int n,
                   const mo_fusion_rule *rule)
{
    for (int k = 0; k < n && n == rule->n; k++)
        if (strcmp(g->ops[ops[k]].type, rule->words[k].text) != 0 ||
            (k > 0 && !is_link(g, ops[k - 1], ops[k])))
            return false;
    return n == rule->n;
}

static bool spells_any(const mo_graph *g, const int *ops, int n,
                       const mo_fusion_rules *rules)
{
    for (int r = 0; r < rules->n; r++)
        if (spells(g, ops, n, &rules->rules[r]))
            return true;
    return false;
}

/* Returns whether the unfused ops from op on could match a rule; tries every
 * path. */
static bool could_start(const mo_graph *g, const mo_fusion_rules *rules,
                        const mo_coarsen_map *map, int *ops, int n)
{
    int last = ops[n - 1], home = map->coarse_of[last];

    if (map->start[home + 1] - map->start[home] > 1 ||
        n > MO_FUSION_MAX_RULE_LENGTH)
        return false;
    if (spells_any(g, ops, n, rules))
        return true;
    for (int e = g->out_start[last]; e < g->out_start[last + 1]; e++) {
        ops[n] = g->edges[e].to;
        if (is_link(g, last, ops[n]) && could_start(g, rules, map, ops, n + 1))
            return true;
    }
    return false;
}

static mo_graph *fused_of(const mo_graph *g, const mo_fusion_rules *rules,
                          mo_coarsen_map **map)
{
    mo_gcof_options how = { .rules = rules, .merge_parallel = true };
    mo_graph *coarse = NULL;

    MUST(mo_gcof(g, &how, &coarse, map, &err));
    return coarse;
}

static uint64_t digest_of(const mo_graph *g)
{
    uint64_t digest = 0;

    MUST(mo_graph_digest(g, &digest, &err));
    return digest;
}

/* Every group matches a rule along links, and the unfused ops cannot. */
static void check_groups(unsigned seed)
{
    mo_graph *g = typed_graph(seed, 0), *coarse;
    mo_fusion_rules *rules = rules_of(overlapping);
    mo_coarsen_map *map = NULL;

    coarse = fused_of(g, rules, &map);
    for (int c = 0; c < map->n_coarse; c++) {
        int n = map->start[c + 1] - map->start[c],
            ops[MO_FUSION_MAX_RULE_LENGTH + 2];
        const int *members = &map->member[map->start[c]];

        ops[0] = members[0];
        ck_assert_msg(n > 1 ? spells_any(g, members, n, rules)
                            : !could_start(g, rules, map, ops, 1),
                      "seed %u: %s", seed, g->ops[members[0]].name);
    }
    mo_coarsen_map_free(map);
    mo_fusion_rules_free(rules);
    mo_graph_free(coarse);
    mo_graph_free(g);
}

/* mo_contract fails on cycles, so its success shows that there is none. */
static void check_coarse_graph(unsigned seed)
{
    mo_graph *g = typed_graph(seed, 0), *coarse, *again;
    mo_fusion_rules *rules = rules_of(overlapping);
    mo_coarsen_map *map = NULL, *second = NULL;

    coarse = fused_of(g, rules, &map);
    ck_assert_msg(total_flops(g) == total_flops(coarse), "seed %u", seed);
    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *home = &coarse->ops[map->coarse_of[i]];

        ck_assert_msg(same_text(home->pin, g->ops[i].pin) &&
                          same_text(home->colocate, g->ops[i].colocate),
                      "seed %u: op %d", seed, i);
    }
    for (int e = 0; e < g->n_edges; e++)
        ck_assert_msg(map->coarse_of[g->edges[e].from] <=
                          map->coarse_of[g->edges[e].to],
                      "seed %u: order", seed);
    again = fused_of(coarse, rules, &second);
    ck_assert_msg(digest_of(again) == digest_of(coarse),
                  "seed %u: not idempotent", seed);
    mo_graph_free(again);
    mo_graph_free(coarse);
    mo_graph_free(g);
    mo_coarsen_map_free(map);
    mo_coarsen_map_free(second);
    mo_fusion_rules_free(rules);
}

static void check_order(unsigned seed)
{
    mo_graph *g = typed_graph(seed, 0);
    mo_graph *shuffled = typed_graph(seed, 1 + seed);
    mo_fusion_rules *rules = rules_of(overlapping);
    mo_coarsen_map *map = NULL, *second = NULL;
    mo_graph *coarse = fused_of(g, rules, &map);
    mo_graph *other = fused_of(shuffled, rules, &second);

    ck_assert_msg(digest_of(coarse) == digest_of(other), "seed %u", seed);
    mo_coarsen_map_free(second);
    mo_coarsen_map_free(map);
    mo_graph_free(other);
    mo_graph_free(coarse);
    mo_graph_free(shuffled);
    mo_graph_free(g);
    mo_fusion_rules_free(rules);
}

START_TEST(groups_are_rules_and_nothing_more_fits)
{
    for (int k = 0; k < SEEDS; k++)
        check_groups((unsigned) (_i * SEEDS + k));
}
END_TEST

START_TEST(any_graph_coarsens_to_a_dag_with_the_same_work)
{
    for (int k = 0; k < SEEDS; k++)
        check_coarse_graph((unsigned) (_i * SEEDS + k));
}
END_TEST

START_TEST(the_order_of_a_file_changes_nothing)
{
    for (int k = 0; k < SEEDS; k++)
        check_order((unsigned) (_i * SEEDS + k));
}
END_TEST

SUITE(gcof)
{
    EACH(chains_that_spell_a_rule_are_fused, COUNT(cases));
    TEST(a_bias_does_not_block_a_normalization);
    TEST(the_example_of_the_paper_comes_out_as_printed);
    TEST(pinned_and_colocated_ops_stay_apart);
    TEST(outputs_of_the_network_stay_visible);
    SOME(groups_are_rules_and_nothing_more_fits, 50, 5);
    SOME(any_graph_coarsens_to_a_dag_with_the_same_work, 100, 5);
    SOME(the_order_of_a_file_changes_nothing, 25, 3);
}
