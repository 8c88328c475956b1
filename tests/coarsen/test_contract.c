/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coarsen/contract.h, on small GraphML documents; results are
 * formatted by tests/support/graph_text.h. */
#include "coarsen/contract.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/graphml.h"
#include "tests/support/fp_emulated.h"
#include "tests/support/graphml_text.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "tests/support/graph_text.h"

/* Short ids for the attributes of nodes and edges. */
#define KEYS                                                                   \
    KEY("op", "node", "op")                                                    \
    KEY("fl", "node", "flops")                                                 \
    KEY("by", "node", "bytes")                                                 \
    KEY("me", "node", "memory")                                                \
    KEY("we", "node", "weight_bytes")                                          \
    KEY("ws", "node", "workspace_bytes")                                       \
    KEY("ou", "node", "output_bytes")                                          \
    KEY("sh", "node", "shape")                                                 \
    KEY("dt", "node", "dtype")                                                 \
    KEY("at", "node", "attrs")                                                 \
    KEY("na", "node", "name")                                                  \
    KEY("pi", "node", "pin")                                                   \
    KEY("co", "node", "colocate")                                              \
    KEY("mb", "node", "members")                                               \
    KEY("le", "node", "output")                                                \
    KEY("tA", "node", "time_us.A")                                             \
    KEY("eb", "edge", "bytes")                                                 \
    KEY("sp", "edge", "src_port")                                              \
    KEY("dp", "edge", "dst_port")                                              \
    KEY("te", "edge", "tensor")                                                \
    KEY("cx", "edge", "comm_us.A.B")                                           \
    KEY("cy", "edge", "comm_us.B.A")

static mo_graph *read_text(const char *text)
{
    mo_graph *g = NULL;

    MUST(mo_graphml_read_memory("g", text, strlen(text), NULL, &g, &err));
    return g;
}

/* A grouping in words: "a+b c+~d -e !f".  Groups are separated by blanks;
 * '~' is silent, '-' replicated, '!' a constant. */
typedef struct words {
    int group[32];
    bool silent[32];
    bool has_silent;
    int n_groups;
} words;

static words parse_groups(const mo_graph *g, const char *text)
{
    words w = { .n_groups = -1 };
    char name[32];
    int length, last = -1;
    char before = ' ';

    ck_assert_int_le(g->n_ops, COUNT(w.group));
    for (; sscanf(text, "%31[^+ ]%n", name, &length) == 1;
         before = text[length], text += length + (text[length] != '\0')) {
        char mark = strchr("~-!", *name) ? *name : '\0';
        int op = id_of(g, name + (mark != '\0'));

        if (before == ' ' && (mark == '\0' || mark == '~'))
            last = ++w.n_groups;
        w.group[op] = mark == '-'   ? MO_COARSEN_MAP_REPLICATED
                      : mark == '!' ? MO_COARSEN_MAP_CONSTANT
                                    : last;
        w.silent[op] = mark == '~';
        w.has_silent |= mark == '~';
        if (text[length] == '\0')
            break;
    }
    w.n_groups++;
    return w;
}

static mo_status contract(const mo_graph *g, const char *groups,
                          bool merge_parallel, mo_graph **coarse,
                          mo_coarsen_map **map, mo_error *err)
{
    words w = parse_groups(g, groups);
    mo_grouping grouping = { .group = w.group,
                             .n_groups = w.n_groups,
                             .silent = w.has_silent ? w.silent : NULL,
                             .merge_parallel = merge_parallel };

    return mo_contract(g, &grouping, coarse, map, err);
}

#define A_B(a, b) NODE("a", a) NODE("b", b)
#define CHAIN     EDGE("a", "b", "")

static const struct {
    const char *document, *groups, *coarse;
} cases[] = {
    /* An op that stays alone stays as it is. */
    { GRAPHML(KEYS,
              A_B(DATA("op", "Conv") DATA("na", "first") DATA("fl", "5") DATA(
                      "by", "6") DATA("me", "9") DATA("we", "3") DATA("ws", "4")
                      DATA("ou", "8") DATA("sh", "2,1") DATA("dt", "f32")
                          DATA("at", "{\"k\":1}") DATA("pi", "A")
                              DATA("co", "x") DATA("mb", "[\"m\"]")
                                  DATA("le", "1") DATA("tA", "2.5"),
                  "") EDGE("a", "b",
                           DATA("eb", "7") DATA("sp", "1") DATA("dp", "in")
                               DATA("te", "t") DATA("cx", "3"))),
      "a b",
      "a op=Conv name=first memory=9 weight=3 workspace=4 flops=5 bytes=6 "
      "output=8 shape=2,1 dtype=f32 attrs={\"k\":1} pin=A colocate=x "
      "members=[\"m\"] leaves A=2.5 | b; a:1->b:in bytes=7 tensor=t A.B=3" },

    /* What adds up; types and names are strung together. */
    { GRAPHML(KEYS, A_B(DATA("op", "Conv") DATA("fl", "5") DATA("me", "10")
                            DATA("we", "3") DATA("ws", "7"),
                        DATA("op", "ReLU") DATA("fl", "2") DATA("me", "4")
                            DATA("we", "4")) CHAIN),
      "a+b",
      "a op=Conv+ReLU memory=14 weight=7 workspace=7 flops=7 "
      "members=[\"a\",\"b\"]" },
    /* Work is known when all of it is. */
    { GRAPHML(KEYS, A_B(DATA("fl", "5"), "") CHAIN), "a+b",
      "a members=[\"a\",\"b\"]" },
    /* An op without a type adds none to the others'. */
    { GRAPHML(KEYS, A_B("", DATA("op", "ReLU")) CHAIN), "a+b",
      "a op=ReLU members=[\"a\",\"b\"]" },
    /* A member that stands for others is replaced by them. */
    { GRAPHML(KEYS, A_B(DATA("mb", "[\"x\",\"y\"]"), "") CHAIN), "a+b",
      "a members=[\"x\",\"y\",\"b\"]" },
    { GRAPHML(KEYS, NODE("q&quot;", "") NODE("r", "") EDGE("q&quot;", "r", "")),
      "q\"+r", "q\" members=[\"q\\\"\",\"r\"]" },

    /* What passes between members is neither written nor read. */
    { GRAPHML(KEYS, A_B(DATA("by", "100") DATA("ou", "30"),
                        DATA("by", "100") DATA("ou", "20")) CHAIN),
      "a+b", "a bytes=140 output=20 members=[\"a\",\"b\"]" },
    /* What others read as well must be written. */
    { GRAPHML(KEYS, A_B(DATA("by", "100") DATA("ou", "30"), DATA("by", "100"))
                        NODE("c", "") CHAIN EDGE("a", "c", "")),
      "a+b c",
      "a bytes=170 output=30 members=[\"a\",\"b\"] | c; a->c bytes=30" },
    /* And so must what leaves the network. */
    { GRAPHML(KEYS, A_B(DATA("by", "100") DATA("ou", "30") DATA("le", "1"),
                        DATA("by", "100")) CHAIN),
      "a+b", "a bytes=170 members=[\"a\",\"b\"] leaves" },
    /* No more can be saved than there was. */
    { GRAPHML(KEYS,
              A_B(DATA("by", "1") DATA("ou", "30"), DATA("by", "1")) CHAIN),
      "a+b", "a bytes=0 members=[\"a\",\"b\"]" },

    /* Silent members: neither type nor time, nothing saved, and their unknown
     * work is ignored. */
    { GRAPHML(KEYS,
              A_B(DATA("op", "MatMul") DATA("fl", "8") DATA("by", "50")
                      DATA("at", "{\"k\":1}") DATA("sh", "2,3") DATA("ou", "24")
                          DATA("tA", "4"),
                  DATA("op", "Reshape") DATA("sh", "6") DATA("ou", "24")
                      DATA("tA", "1")) NODE("c", "") CHAIN EDGE("b", "c", "")),
      "a+~b c",
      "a op=MatMul flops=8 bytes=50 output=24 shape=2,3 attrs={\"k\":1} "
      "members=[\"a\",\"b\"] A=4 | c; a->c bytes=24" },
    /* A view and what it is a view of are one output. */
    { GRAPHML(KEYS, A_B(DATA("ou", "24"), DATA("ou", "24")) NODE("c", "") NODE(
                        "d", "") CHAIN EDGE("a", "d", "") EDGE("b", "c", "")),
      "a+~b c d",
      "a output=24 members=[\"a\",\"b\"] | c | d; a->c bytes=24 | "
      "a->d bytes=24" },
    /* A part of it is not. */
    { GRAPHML(KEYS,
              A_B(DATA("ou", "24") DATA("sh", "6"),
                  DATA("ou", "8") DATA("sh", "2")) NODE("c", "") NODE("d", "")
                  CHAIN EDGE("a", "d", "") EDGE("b", "c", "")),
      "a+~b c d",
      "a output=32 shape=6;2 members=[\"a\",\"b\"] | c | d; "
      "a:0->d bytes=24 | a:1->c bytes=8" },
    /* Of unknown size: then they are two. */
    { GRAPHML(KEYS, A_B("", "") NODE("c", "") NODE("d", "")
                        CHAIN EDGE("a", "d", "") EDGE("b", "c", "")),
      "a+~b c d", "a members=[\"a\",\"b\"] | c | d; a:0->d | a:1->c" },

    /* Outputs of a group are numbered, shapes and types of each are listed;
     * inputs are numbered member by member. */
    { GRAPHML(KEYS,
              NODE("i", "") NODE("j", "") A_B(
                  DATA("sh", "1;2") DATA("dt", "f32") DATA("ou", "12"),
                  DATA("sh", "3") DATA("dt", "i64")) NODE("c", "")
                  EDGE("i", "b", DATA("dp", "1")) EDGE(
                      "j", "a", DATA("dp", "1")) EDGE("i", "a", DATA("dp", "0"))
                      EDGE("a", "b",
                           DATA("sp", "0") DATA("dp", "0") DATA("eb", "4"))
                          EDGE("a", "c", DATA("sp", "1") DATA("eb", "8"))
                              EDGE("b", "c", DATA("eb", "24"))),
      "i j a+b c",
      "i | j | a output=32 shape=2;3 dtype=f32;i64 members=[\"a\",\"b\"] | c; "
      "i->a:0 | i->a:2 | j->a:1 | a:0->c bytes=8 | a:1->c bytes=24" },
    /* Of the outputs only one is left: no need for a number. */
    { GRAPHML(KEYS, A_B(DATA("sh", "1;2"), "") NODE("c", "")
                        EDGE("a", "b", DATA("sp", "0"))
                            EDGE("a", "c", DATA("sp", "1"))),
      "a+b c", "a shape=2 members=[\"a\",\"b\"] | c; a->c" },
    /* One output without a shape: none is listed. */
    { GRAPHML(KEYS, A_B(DATA("sh", "1"), "") NODE("c", "")
                        CHAIN EDGE("a", "c", "") EDGE("b", "c", "")),
      "a+b c", "a members=[\"a\",\"b\"] | c; a:0->c | a:1->c" },

    /* Constants become part of the weights of their readers; readers of a
     * replica are unchanged; the input of a result leaves the network. */
    { GRAPHML(KEYS,
              A_B(DATA("ou", "16"), DATA("me", "4") DATA("we", "4")) CHAIN),
      "!a b", "b memory=20 weight=20" },
    { GRAPHML(KEYS,
              A_B(DATA("ou", "16"), "") NODE("c", "") CHAIN EDGE("b", "c", "")),
      "!a b+c", "b memory=16 weight=16 members=[\"b\",\"c\"]" },
    { GRAPHML(KEYS, A_B(DATA("ou", "16"), "") CHAIN), "-a b", "b" },
    { GRAPHML(KEYS, A_B("", "") CHAIN), "a -b", "a leaves" },
    { GRAPHML(KEYS, A_B("", "") NODE("c", "") CHAIN EDGE("a", "c", "")),
      "a+b -c", "a members=[\"a\",\"b\"] leaves" },
    { GRAPHML(KEYS, ""), "", "" },

    /* One place for all members is the group's. */
    { GRAPHML(KEYS, A_B(DATA("pi", "A"), DATA("co", "x")) CHAIN), "a+b",
      "a pin=A colocate=x members=[\"a\",\"b\"]" },
    { GRAPHML(KEYS, A_B(DATA("pi", "A"), DATA("pi", "A")) CHAIN), "a+b",
      "a pin=A members=[\"a\",\"b\"]" },

    /* Times add up where all are known, fallbacks included. */
    { GRAPHML(KEYS, A_B(DATA("tA", "1.5"), DATA("tA", "2")) CHAIN), "a+b",
      "a members=[\"a\",\"b\"] A=3.5" },
    { GRAPHML(KEYS, A_B(DATA("tA", "1.5"), "") CHAIN), "a+b",
      "a members=[\"a\",\"b\"]" },
    { GRAPHML(DEFAULT("tA", "node", "time_us.A", "0.5"),
              A_B(DATA("tA", "1.5"), "") NODE("c", "") CHAIN),
      "a+b c", "a members=[\"a\",\"b\"] A=2 | c; A=0.5" },

    /* Transfers between groups keep their own times and fallbacks. */
    { GRAPHML(DEFAULT("cx", "edge", "comm_us.A.B", "9"),
              A_B("", "") NODE("c", "") CHAIN EDGE("a", "c", DATA("cx", "1"))
                  EDGE("b", "c", "")),
      "a+b c", "a members=[\"a\",\"b\"] | c; a:0->c A.B=1 | a:1->c; A.B=9" },
};

START_TEST(groups_become_ops)
{
    mo_graph *g = read_text(cases[_i].document), *coarse = NULL;
    mo_coarsen_map *map = NULL;

    MUST(contract(g, cases[_i].groups, false, &coarse, &map, &err));
    mo_graph_free(g); /* the coarse graph must not need it */
    ck_assert_str_eq(graph_to_text(coarse), cases[_i].coarse);
    mo_coarsen_map_free(map);
    mo_graph_free(coarse);
}
END_TEST

static const struct {
    const char *document, *groups, *apart, *merged;
} parallels[] = {
    /* The largest time counts, column by column. */
    { GRAPHML(KEYS,
              A_B("", "") EDGE("a", "b",
                               DATA("eb", "4") DATA("cx", "1") DATA("cy", "7"))
                  EDGE("a", "b", DATA("eb", "8") DATA("cx", "3"))),
      "a b", "a | b; a->b bytes=4 A.B=1 B.A=7 | a->b bytes=8 A.B=3",
      "a | b; a->b bytes=8 A.B=3 B.A=7" },
    { GRAPHML(DEFAULT("cx", "edge", "comm_us.A.B", "5"),
              A_B("", "") CHAIN EDGE("a", "b", DATA("cx", "3"))),
      "a b", "a | b; a->b | a->b A.B=3; A.B=5", "a | b; a->b A.B=5; A.B=5" },
    /* Other tensors, or other readers, are other edges. */
    { GRAPHML(KEYS, A_B("", "") NODE("c", "") EDGE("a", "b", DATA("sp", "0"))
                        EDGE("a", "b", DATA("sp", "1"))
                            EDGE("a", "c", DATA("sp", "1"))),
      "a b c", "a | b | c; a:0->b | a:1->b | a:1->c",
      "a | b | c; a:0->b | a:1->b | a:1->c" },
    /* Edges become parallel when their readers become one. */
    { GRAPHML(KEYS, NODE("x", "") A_B("", "") NODE("c", "") EDGE("x", "a", "")
                        EDGE("x", "c", "") EDGE("x", "b", "") CHAIN),
      "x a+b c", "x | a members=[\"a\",\"b\"] | c; x->a:0 | x->a:1 | x->c",
      "x | a members=[\"a\",\"b\"] | c; x->a:0 | x->c" },
};

START_TEST(parallel_edges_are_merged_by_option)
{
    mo_graph *g = read_text(parallels[_i].document);
    const char *groups = parallels[_i].groups;
    mo_graph *apart = NULL, *merged = NULL;
    mo_coarsen_map *map = NULL, *same = NULL;

    MUST(contract(g, groups, false, &apart, &map, &err));
    MUST(contract(g, groups, true, &merged, &same, &err));
    ck_assert_str_eq(graph_to_text(apart), parallels[_i].apart);
    if (!is_miscalculated())
        ck_assert_str_eq(graph_to_text(merged), parallels[_i].merged);
    mo_coarsen_map_free(same);
    mo_coarsen_map_free(map);
    mo_graph_free(merged);
    mo_graph_free(apart);
    mo_graph_free(g);
}
END_TEST

static const struct {
    const char *document, *groups, *error;
} refusals[] = {
    { GRAPHML(KEYS, A_B("", DATA("pi", "A")) NODE("c", DATA("pi", "B"))
                        CHAIN EDGE("b", "c", "")),
      "a+b+c",
      "ops 'b' and 'c' are one op on a device, but pin says 'A' for one and "
      "'B' for the other; let them agree, or leave them apart with --fusion "
      "none" },
    { GRAPHML(KEYS, A_B(DATA("co", "x"), DATA("co", "y")) CHAIN), "a+b",
      "ops 'a' and 'b' are one op on a device, but colocate says 'x' for one "
      "and 'y' for the other" },
    { GRAPHML(KEYS, A_B(DATA("we", "9000000000000000000"),
                        DATA("we", "9000000000000000000")) CHAIN),
      "a+b", "sizes of op 'a' and those it is made of exceed 2^63 bytes" },
    { GRAPHML(KEYS, A_B(DATA("ou", "9000000000000000000"),
                        DATA("we", "9000000000000000000")) CHAIN),
      "!a b", "sizes of op 'b' and those it is made of exceed 2^63 bytes" },
    /* a+c depends on b, and b on a+c. */
    { GRAPHML(KEYS, A_B("", "") NODE("c", "") CHAIN EDGE("b", "c", "")),
      "a+c b", "cycle" },
};

START_TEST(what_cannot_be_one_is_refused)
{
    mo_graph *g = read_text(refusals[_i].document), *coarse = NULL;
    mo_coarsen_map *map = NULL;
    mo_error err = { 0 };
    mo_status status =
        contract(g, refusals[_i].groups, false, &coarse, &map, &err);

    ck_assert_int_eq(status, MO_E_INPUT);
    ck_assert_msg(strstr(err.text, refusals[_i].error) != NULL, "%s", err.text);
    ck_assert_ptr_null(coarse);
    ck_assert_ptr_null(map);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_cycle_names_its_ops)
{
    mo_graph *g = graph_of("a -> b -> c -> d"), *coarse = NULL;
    mo_coarsen_map *map = NULL;
    mo_error err = { 0 };

    ck_assert_int_ne(contract(g, "a+c b+d", false, &coarse, &map, &err), MO_OK);
    ck_assert_msg(strstr(err.text, "cycle: a -> b") != NULL, "%s", err.text);
    mo_graph_free(g);
}
END_TEST

/* Ids of the coarse graph are its own: here the group comes after what has a
 * smaller name and no longer stands before it. */
START_TEST(the_map_leads_to_the_ids_of_the_coarse_graph)
{
    mo_graph *g = graph_of("a -> d -> e; a -> b -> c; k; r"), *coarse = NULL;
    mo_coarsen_map *map = NULL;
    static const char *const homes[] = { "a", "b", "b", "d", "d" };
    static const char *const names[] = { "a", "b", "c", "d", "e" };

    MUST(contract(g, "d+e b+c a !k -r", false, &coarse, &map, &err));
    for (int i = 0; i < COUNT(names); i++)
        ck_assert_int_eq(map->coarse_of[id_of(g, names[i])],
                         id_of(coarse, homes[i]));
    ck_assert_int_eq(map->coarse_of[id_of(g, "k")], MO_COARSEN_MAP_CONSTANT);
    ck_assert_int_eq(map->coarse_of[id_of(g, "r")], MO_COARSEN_MAP_REPLICATED);
    mo_coarsen_map_free(map);
    mo_graph_free(coarse);
    mo_graph_free(g);
}
END_TEST

/* The constants of the fine graph stay behind. */
START_TEST(constants_are_left_behind)
{
    mo_graph *g = graph_of("a -> b; $w -> a; $v -> $w"), *coarse = NULL;
    mo_coarsen_map *map = NULL;

    MUST(contract(g, "a b", false, &coarse, &map, &err));
    ck_assert_str_eq(graph_to_text(coarse), "a | b; a->b");
    mo_coarsen_map_free(map);
    mo_graph_free(coarse);
    mo_graph_free(g);
}
END_TEST

/* Records its arguments and returns a value that no sum has. */
typedef struct fused_record {
    char key[8];
    double us[4];
    int n;
    double saved_bytes;
} fused_record;

static double record_fused(const void *context, const mo_fused *fused)
{
    fused_record *seen = *(fused_record *const *) context;

    snprintf(seen->key, sizeof seen->key, "%s", fused->key);
    seen->n = fused->n;
    seen->saved_bytes = fused->saved_bytes;
    for (int i = 0; i < fused->n && i < COUNT(seen->us); i++)
        seen->us[i] = fused->us[i];
    return 42;
}

START_TEST(times_of_several_are_merged_by_the_callback)
{
    mo_graph *g = read_text(GRAPHML(
        KEYS, A_B(DATA("ou", "30") DATA("tA", "2"), DATA("tA", "3")) NODE(
                  "c", DATA("tA", "1")) CHAIN EDGE("b", "c", DATA("eb", "5"))));
    words w = parse_groups(g, "a+b c");
    fused_record seen = { .n = 0 }, *to = &seen;
    mo_grouping grouping = { .group = w.group,
                             .n_groups = w.n_groups,
                             .fused_us = record_fused,
                             .context = &to };
    mo_graph *coarse = NULL;
    mo_coarsen_map *map = NULL;

    MUST(mo_contract(g, &grouping, &coarse, &map, &err));
    ck_assert_double_eq(mo_graph_time_us(coarse, id_of(coarse, "a"), 0), 42);
    ck_assert_double_eq(mo_graph_time_us(coarse, id_of(coarse, "c"), 0), 1);
    ck_assert_str_eq(seen.key, "A");
    ck_assert_int_eq(seen.n, 2);
    ck_assert_double_eq(seen.us[0], 2);
    ck_assert_double_eq(seen.us[1], 3);
    ck_assert_double_eq(seen.saved_bytes, 60);
    mo_coarsen_map_free(map);
    mo_graph_free(coarse);
    mo_graph_free(g);
}
END_TEST

/* Every op a group of its own: the same graph, but for its constants. */
START_TEST(nothing_contracted_is_nothing_changed)
{
    mo_graph *g = random_graph((unsigned) _i, 1 + _i % 30), *coarse = NULL;
    int group[30];
    mo_grouping grouping = { .group = group, .n_groups = g->n_ops };
    mo_coarsen_map *map = NULL;
    char *before;

    for (int i = 0; i < g->n_ops; i++)
        group[i] = i;
    MUST(mo_contract(g, &grouping, &coarse, &map, &err));
    g->n_constants = g->n_feeds = 0;
    before = strdup(graph_to_text(g));
    ck_assert_msg(strcmp(before, graph_to_text(coarse)) == 0, "seed %d", _i);
    free(before);
    mo_coarsen_map_free(map);
    mo_graph_free(coarse);
    mo_graph_free(g);
}
END_TEST

SUITE(contract)
{
    EACH(groups_become_ops, COUNT(cases));
    EACH(parallel_edges_are_merged_by_option, COUNT(parallels));
    EACH(what_cannot_be_one_is_refused, COUNT(refusals));
    TEST(a_cycle_names_its_ops);
    TEST(the_map_leads_to_the_ids_of_the_coarse_graph);
    TEST(constants_are_left_behind);
    TEST(times_of_several_are_merged_by_the_callback);
    SOME(nothing_contracted_is_nothing_changed, 200, 10);
}
