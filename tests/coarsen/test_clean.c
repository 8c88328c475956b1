/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coarsen/clean.h, on graphs in the one-line form and on published
 * networks. */
#include "coarsen/clean.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "graph/summary.h"
#include "ingest/read.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

static char line[4096];
static size_t used;

static void append(const char *before, const char *text)
{
    int n = snprintf(line + used, sizeof line - used, "%s%s", before, text);

    ck_assert(n >= 0 && (size_t) n < sizeof line - used);
    used += (size_t) n;
}

/* "a+b c* -x !y": the coarse ops by their members, '*' behind those with
 * an output of the network; then what is replicated, then the constants. */
static const char *format_clean(const mo_graph *g, const mo_coarsen_map *map,
                                const mo_graph *clean)
{
    static const char *const marks[] = { [1] = "-", [2] = "!" };

    used = 0;
    line[0] = '\0';
    for (int c = 0; c < map->n_coarse; c++) {
        for (int k = map->start[c]; k < map->start[c + 1]; k++)
            append(k > map->start[c] ? "+"
                   : c > 0           ? " "
                                     : "",
                   g->ops[map->member[k]].name);
        append("", clean->ops[c].is_output ? "*" : "");
    }
    for (int gone = 1; gone <= 2; gone++)
        for (int i = 0; i < g->n_ops; i++)
            if (map->coarse_of[i] == -gone) {
                append(used > 0 ? " " : "", marks[gone]);
                append("", g->ops[i].name);
            }
    return line;
}

static mo_graph *clean_of(const mo_graph *g, const char *passes,
                          mo_coarsen_map **map, mo_clean_report *report)
{
    mo_graph *clean = NULL;
    unsigned which = 0;

    MUST(mo_clean_parse(passes, &which, &err));
    MUST(mo_clean(g, which, &clean, map, report, &err));
    return clean;
}

/* Every op has the shape "1" unless its name begins with '?'. */
static const struct {
    const char *passes, *graph, *clean;
} cases[] = {
    /* Constants: what depends on no input. */
    { "constants", "k:Const -> a:Add -> b:Add; x:Parameter -> b", "x b !k !a" },
    { "constants", "k:Range -> a:Cos -> b:Sin", "!k !a !b" },
    { "constants", "k:ones -> a:Convert; z:aten.zeros.default; e:eye",
      "!e !k !a !z" },
    { "constants", "x:Parameter -> a:ReLU", "x a" },
    /* But through the shape of something, if that is static. */
    { "constants", "x:Parameter -> s:ShapeOf -> g:Gather -> r:Reshape; x -> r",
      "x r !s !g" },
    { "constants", "?x:Parameter -> s:ShapeOf -> g:Gather", "?x s g" },
    { "constants", "x:Parameter -> z:zeros_like -> a:Add; x -> a", "x a !z" },
    { "constants", "?x:Parameter -> ?z:zeros_like", "?x ?z" },
    { "constants", "a:Add -> z:zeros; a -> ?o:ones", "a ?o !z" },
    /* Ops that may have lost their input, are random or have a state are no
     * constants. */
    { "constants", "a:MatMul -> b:Add; e:expand; f:Broadcast; r:Reshape",
      "a b e f r" },
    { "constants", "k:Const -> r:RandomUniform; k -> v:ReadValue -> a:Assign",
      "r v a !k" },
    /* Unknown types are left alone. */
    { "constants", "k:Const -> a:Mystery -> b:Add", "a b !k" },
    { "constants", "k -> a:Add", "k a" },
    { "none", "k:Const -> a:Add; x:Parameter -> a", "k x a" },

    /* Sources: inputs and views of them. */
    { "sources", "x:Parameter -> a:MatMul; x -> b:MatMul", "a b -x" },
    { "sources", "x:placeholder -> r:view -> q:squeeze -> a:MatMul",
      "a -x -r -q" },
    { "sources", "x:Parameter -> r:Reshape; a:MatMul -> r -> b:Add",
      "a r b -x" },
    { "sources", "k:Const -> a:Add", "a -k" },
    { "sources", "a:MatMul -> b:Add", "a b" },
    { "sources", "x:Mystery -> a:Add", "x a" },

    /* Results: their producers carry the mark. */
    { "results", "a:MatMul -> b:Add -> r:Result; a -> s:output",
      "a* b* -r -s" },
    { "results", "a:MatMul -> b:Add", "a b" },
    { "results", "x:Parameter -> r:Result", "x* -r" },
    { "sources,results", "x:Parameter -> r:Result; a:Add -> s:Result",
      "a* -s -x -r" },

    /* Views join what they are views of. */
    { "views", "a:MatMul -> v:Reshape -> b:MatMul", "a+v b" },
    { "views", "a:MatMul -> v:view -> w:Squeeze -> b:Add; a -> b", "a+v+w b" },
    { "views", "a:Split -> v:getitem -> b:ReLU; a -> w:getitem -> c:ReLU",
      "a+v+w b c" },
    { "views", "a:Add -> v:Reshape; b:Add -> v", "a b v" },
    { "views", "a:Add -> v:Reshape -> w:Reshape; a -> w", "a+v+w" },
    { "views", "v:Reshape -> a:Add", "v a" },
    { "views", "a:Mystery -> v:Identity -> b:Mystery", "a+v b" },

    /* One pass after the other. */
    { "all",
      "x:Parameter -> v:Reshape -> m:MatMul -> w:Reshape -> r:Result; "
      "x -> s:ShapeOf -> v; k:Const -> w",
      "m+w* -x -v -r !k !s" },
    { "all", "x:Parameter -> r:Result", "-x -r" },
    { "all", "", "" },
};

START_TEST(what_is_no_work_is_taken_out)
{
    mo_graph *g = graph_of(cases[_i].graph), *clean;
    mo_clean_report report;
    mo_coarsen_map *map = NULL;

    for (int i = 0; i < g->n_ops; i++)
        if (*g->ops[i].name != '?')
            g->ops[i].shape = "1";
    clean = clean_of(g, cases[_i].passes, &map, &report);
    ck_assert_str_eq(format_clean(g, map, clean), cases[_i].clean);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(g);
}
END_TEST

/* An op with a placement constraint stays. */
START_TEST(what_is_bound_stays)
{
    mo_graph *g = graph_of("k:Const -> a:Add -> v:Reshape -> r:Result; "
                           "x:Parameter -> a"),
             *clean;
    mo_clean_report report;
    mo_coarsen_map *map = NULL;

    for (int i = 0; i < g->n_ops; i++)
        *(i % 2 ? &g->ops[i].pin : &g->ops[i].colocate) = "A";
    clean = clean_of(g, "all", &map, &report);
    ck_assert_int_eq(clean->n_ops, g->n_ops);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);

    /* A view may join a pinned producer. */
    g->ops[id_of(g, "v")].pin = g->ops[id_of(g, "v")].colocate = NULL;
    clean = clean_of(g, "views", &map, &report);
    ck_assert_int_eq(clean->n_ops, g->n_ops - 1);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(g);
}
END_TEST

START_TEST(parallel_edges_of_a_tensor_become_one)
{
    mo_graph *g = graph_of("a:Add -> b:Multiply; a -> b; a -> c:ReLU"), *clean;
    mo_clean_report report;
    mo_coarsen_map *map = NULL;

    clean = clean_of(g, "parallel", &map, &report);
    ck_assert_int_eq(clean->n_edges, 2);
    ck_assert_int_eq(clean->n_ops, 3);
    ck_assert_int_eq(report.removed[MO_CLEAN_PASSES - 1], 1);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(g);
}
END_TEST

START_TEST(each_pass_reports_what_it_removed)
{
    static const int wanted[MO_CLEAN_PASSES] = { 2, 1, 1, 1, 1 };
    mo_graph *g = graph_of("k:Const -> l:Convert -> a:Add -> v:Reshape -> "
                           "b:Add -> r:Result; x:Parameter -> a; v -> b"),
             *clean;
    mo_clean_report report;
    mo_coarsen_map *map = NULL;

    clean = clean_of(g, "all", &map, &report);
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        ck_assert_msg(report.removed[k] == wanted[k], "%s: %d",
                      mo_clean_passes[k].name, report.removed[k]);
    ck_assert_ptr_null(mo_clean_passes[MO_CLEAN_PASSES].name);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(g);
}
END_TEST

/* Bits are in the order of the passes. */
static const struct {
    const char *text;
    unsigned which;
} choices[] = {
    { "all", 31 },
    { "none", 0 },
    { "constants", 1 },
    { "parallel", 16 },
    { "views,constants", 9 },
    { "none,views", 8 },
    { "all,-sources", 29 },
    { "-sources", 29 },
    { "-sources,-views", 21 },
    { "views,-views", 0 },
};

START_TEST(passes_are_chosen_by_name)
{
    unsigned which = 77;

    MUST(mo_clean_parse(choices[_i].text, &which, &err));
    ck_assert_uint_eq(which, choices[_i].which);
}
END_TEST

static const char *const no_choices[] = { "",         "view",  "views ",
                                          "ALL",      "all,",  ",all",
                                          "-",        "-none", "--views",
                                          "all;views" };

START_TEST(other_passes_are_refused)
{
    unsigned which = 77;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_clean_parse(no_choices[_i], &which, &err), MO_E_USAGE);
    ck_assert_uint_eq(which, 77);
    ck_assert_msg(strstr(err.text, "is no cleaning pass; there are constants, "
                                   "sources, results, views and parallel"),
                  "%s", err.text);
}
END_TEST

static const char *data;

/* Number of random graphs per process. */
enum { SEEDS = 20 };

/* Random graphs of operators that the passes handle, each in a fitting
 * place. */
static mo_graph *typed_graph(unsigned seed)
{
    static const char *const first[] = { "Parameter", "Const", "ones", "expand",
                                         "Add" };
    static const char *const middle[] = {
        "Reshape", "ShapeOf", "Gather", "Add",     "MatMul",
        "getitem", "ones",    "expand", "Mystery", "zeros_like",
    };
    static const char *const last[] = { "Result", "Result", "Add", "Reshape" };
    mo_graph *g = random_graph(seed, 1 + (int) (seed % 40));
    test_random random = { seed };

    for (int i = 0; i < g->n_ops; i++) {
        g->ops[i].type = mo_graph_in_degree(g, i) == 0
                             ? first[random_below(&random, COUNT(first))]
                         : mo_graph_out_degree(g, i) == 0
                             ? last[random_below(&random, COUNT(last))]
                             : middle[random_below(&random, COUNT(middle))];
        g->ops[i].shape = "1";
        g->ops[i].pin = random_below(&random, 8) == 0 ? "A" : NULL;
    }
    mo_operator_resolve(g);
    return g;
}

/* mo_contract fails on cycles, so its success shows that there is none. */
static void check_again(unsigned seed)
{
    mo_graph *g = typed_graph(seed), *clean, *again;
    mo_coarsen_map *map = NULL, *second = NULL;
    mo_clean_report report;

    clean = clean_of(g, "all", &map, &report);
    again = clean_of(clean, "all", &second, &report);
    ck_assert_msg(again->n_ops == clean->n_ops &&
                      again->n_edges == clean->n_edges,
                  "seed %u: %d ops, then %d", seed, clean->n_ops, again->n_ops);
    for (int i = 0; i < g->n_ops; i++)
        ck_assert_msg(!g->ops[i].pin || map->coarse_of[i] >= 0, "seed %u",
                      seed);
    mo_coarsen_map_free(second);
    mo_coarsen_map_free(map);
    mo_graph_free(again);
    mo_graph_free(clean);
    mo_graph_free(g);
}

/* Upper bounds after folding and removal of inputs and results, and with views
 * merged besides: ops, clean cuts at least, largest segment. A view that was a
 * cut is removed, and the cut with it. */
static const struct {
    const char *file;
    int ops, cuts, largest;
    int merged_ops, merged_cuts, merged_largest;
} networks[] = {
    { "openvino/bert_base_128.xml", 293, 53, 17, 245, 53, 13 },
    { "openvino/gpt2_512.xml", 284, 29, 19, 233, 29, 13 },
    { "openvino/swin_t.xml", 411, 44, 28, 328, 43, 20 },
    { "openvino/resnet50.xml", 176, 40, 10, 175, 39, 10 },
    { "openvino/googlenet.xml", 197, 26, 19, 196, 25, 19 },
    { "openvino/mobilenet_v3_large.xml", 186, 64, 14, 185, 63, 14 },
    { "openvino/esmfold_trunk4_64.xml", 583, 14, 444, 519, 14, 394 },
    /* As exported by torch.fx they have no cut at all. */
    { "neusight/bert_large-inf-512-8-layer.graphml", 39, 14, 21, 29, 11, 15 },
    { "neusight/bert_large-inf-512-8.graphml", 706, 106, 21, 535, 103, 15 },
};

static void must_leave(const mo_graph *g, const char *passes, int ops, int cuts,
                       int largest)
{
    mo_clean_report report;
    mo_summary s = { 0 };
    mo_coarsen_map *map = NULL;
    mo_graph *clean = clean_of(g, passes, &map, &report);

    MUST(mo_summary_make(clean, &s, &err));
    ck_assert_msg(s.ops <= ops && s.clean_cuts >= cuts &&
                      s.largest_segment <= largest,
                  "%s: %d ops, %d clean cuts, largest segment %d", passes,
                  s.ops, s.clean_cuts, s.largest_segment);
    mo_summary_clear(&s);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
}

START_TEST(published_networks_show_their_cuts)
{
    char path[PATH_MAX];
    mo_graph *g = NULL;

    snprintf(path, sizeof path, "%s/%s", data, networks[_i].file);
    MUST(mo_read_graph(path, NULL, &g, NULL, &err));
    must_leave(g, "all,-views", networks[_i].ops, networks[_i].cuts,
               networks[_i].largest);
    must_leave(g, "all", networks[_i].merged_ops, networks[_i].merged_cuts,
               networks[_i].merged_largest);
    mo_graph_free(g);
}
END_TEST

START_TEST(any_graph_is_clean_once_it_was_cleaned)
{
    for (int k = 0; k < SEEDS; k++)
        check_again((unsigned) (_i * SEEDS + k));
}
END_TEST

SUITE(clean)
{
    data = getenv("MOIRAI_DATA");
    EACH(what_is_no_work_is_taken_out, COUNT(cases));
    TEST(what_is_bound_stays);
    TEST(parallel_edges_of_a_tensor_become_one);
    TEST(each_pass_reports_what_it_removed);
    EACH(passes_are_chosen_by_name, COUNT(choices));
    EACH(other_passes_are_refused, COUNT(no_choices));
    SOME(any_graph_is_clean_once_it_was_cleaned, 50, 5);
    if (data)
        EACH(published_networks_show_their_cuts, COUNT(networks));
}
