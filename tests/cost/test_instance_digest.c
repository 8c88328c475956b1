/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance.h: an instance's digest changes when its numbers do,
 * and only then. */
#include "cost/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const char graph[] =
    "* t.A=0 t.B=0 t.C=0;"
    "a t.A=1 t.B=2 t.C=3 memory=10 weight_bytes=4 colocate=x;"
    "b t.A=4 t.B=5 t.C=6 pin=C;"
    "c t.A=7 t.B=8 t.C=9 op=Add label=sum flops=5;"
    "d;"
    "a>b bytes=1000;"
    "a>c bytes=1000 c.A.B=1";

static const char cluster[] = "A memory_bytes=1000; B; C host=here;"
                              "A-B gbps=8; B-C gbps=8";

/* text with the first "what" replaced; free() it. */
static char *changed(const char *text, const char *what, const char *with)
{
    const char *at = strstr(text, what);
    char *copy = malloc(strlen(text) + strlen(with) + 1);

    ck_assert_ptr_nonnull(at);
    ck_assert_ptr_nonnull(copy);
    sprintf(copy, "%.*s%s%s", (int) (at - text), text, with, at + strlen(what));
    return copy;
}

static uint64_t digest_of(const char *graph_text, const char *cluster_text,
                          const char *profile_text)
{
    problem p = { 0 };
    uint64_t digest;

    problem_make(&p, graph_text, cluster_text, profile_text);
    digest = p.x->digest;
    problem_clear(&p);
    return digest;
}

typedef struct change {
    const char *what, *with;
} change;

static const change of_numbers[] = {
    { "t.A=1", "t.A=1.001" },
    { "memory=10", "memory=11" },
    { "weight_bytes=4", "weight_bytes=5" },
    { "pin=C", "pin=B" },
    { "pin=C", "" },
    { "colocate=x", "" },
    { "colocate=x;b", ";b colocate=x" },
    { "d;", "e;" },
    { "d;", "" },
    { "a>b bytes=1000", "a>b bytes=1001" },
    { "a>b bytes=1000", "a>b bytes=1000 tensor=own" },
    { "a>b bytes=1000", "b>c bytes=1000" },
    { "a>b bytes=1000;", "" },
    { "c.A.B=1", "c.A.B=1.5" },
};

START_TEST(other_numbers_are_another_instance)
{
    char *other = changed(graph, of_numbers[_i].what, of_numbers[_i].with);

    ck_assert_uint_ne(digest_of(other, cluster, NULL),
                      digest_of(graph, cluster, NULL));
    free(other);
}
END_TEST

/* The last takes the same times, but over another link. */
static const change of_cluster[] = {
    { "memory_bytes=1000", "memory_bytes=1001" },
    { "gbps=8", "gbps=9" },
    { "gbps=8", "gbps=8 latency_us=1" },
    { "B-C gbps=8", "B-C gbps=8; A-C gbps=8" },
};

START_TEST(another_cluster_is_another_instance)
{
    char *other = changed(cluster, of_cluster[_i].what, of_cluster[_i].with);

    ck_assert_uint_ne(digest_of(graph, other, NULL),
                      digest_of(graph, cluster, NULL));
    free(other);
}
END_TEST

/* From A to C by B or by D: it takes no time, but other links. */
START_TEST(another_route_is_another_instance)
{
    const char *ops = "* t.A=0 t.B=0 t.C=0 t.D=0; a; b; a>b bytes=0";

    ck_assert_uint_ne(digest_of(ops,
                                "A; B; C; D; A-B gbps=8; B-C gbps=8;"
                                "A-D gbps=7; D-C gbps=7",
                                NULL),
                      digest_of(ops,
                                "A; B; C; D; A-B gbps=7; B-C gbps=7;"
                                "A-D gbps=8; D-C gbps=8",
                                NULL));
}
END_TEST

static const change of_words[] = {
    { "label=sum", "label=total" },
    { "op=Add", "op=Subtract" },
    { "flops=5", "" },
    { "colocate=x", "colocate=y" },
    { "bytes=1000 c.A.B=1", "bytes=1000.0 c.A.B=1e0" },
    { "t.A=1 t.B=2", "t.B=2 t.A=1.0004" },
};

START_TEST(other_words_are_the_same_instance)
{
    char *other = changed(graph, of_words[_i].what, of_words[_i].with);
    char *elsewhere = changed(cluster, "host=here", "host=there");

    ck_assert_uint_eq(digest_of(other, elsewhere, NULL),
                      digest_of(graph, cluster, NULL));
    free(elsewhere);
    free(other);
}
END_TEST

/* From the edge or from the link, by id or by model, from the cluster or from a
 * profile, in any order. */
START_TEST(the_same_numbers_from_elsewhere_are_the_same_instance)
{
    const char *devices = "A model=t4 memory_bytes=9;"
                          "B model=v100 memory_bytes=9; A-B gbps=8";

    ck_assert_uint_eq(digest_of("a t.A=1 t.B=2; b t.A=1 t.B=2;"
                                "a>b bytes=1000 c.A.B=1",
                                devices, NULL),
                      digest_of("b t.t4=1 t.v100=2; a t.v100=2 t.t4=1;"
                                "a>b bytes=1000",
                                devices, NULL));
    ck_assert_uint_eq(digest_of(graph, cluster,
                                "<profile><link from='C' to='A' gbps='8' "
                                "latency_us='0'/></profile>"),
                      digest_of(graph, cluster, NULL));
}
END_TEST

START_TEST(what_it_was_made_of_has_digests_too)
{
    problem p = { 0 };
    uint64_t of_g, of_c, of_p;

    problem_make(&p, graph, cluster,
                 "<profile><link from='C' to='A' gbps='8'/></profile>");
    MUST(mo_graph_digest(p.g, &of_g, &err));
    MUST(mo_cluster_digest(p.cluster, &of_c, &err));
    MUST(mo_profile_digest(p.profile, &of_p, &err));
    ck_assert_uint_eq(p.x->graph_digest, of_g);
    ck_assert_uint_eq(p.x->cluster_digest, of_c);
    ck_assert_uint_eq(p.x->profile_digest, of_p);
    problem_clear(&p);
    problem_make(&p, graph, cluster, NULL);
    ck_assert_uint_eq(p.x->profile_digest, 0);
    problem_clear(&p);
}
END_TEST

SUITE(instance_digest)
{
    EACH(other_numbers_are_another_instance, COUNT(of_numbers));
    EACH(another_cluster_is_another_instance, COUNT(of_cluster));
    TEST(another_route_is_another_instance);
    EACH(other_words_are_the_same_instance, COUNT(of_words));
    TEST(the_same_numbers_from_elsewhere_are_the_same_instance);
    TEST(what_it_was_made_of_has_digests_too);
}
