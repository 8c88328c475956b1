/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster.h: built-in clusters, and the choice of one. */
#include <config.h>

#include "cost/cluster.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/out.h"
#include "tests/support/problem.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* The paper's table. */
static const struct {
    const char *name;
    struct {
        const char *model;
        int gib;
    } devices[4];
    double gbps[4][4];
    int64_t latency_ns;
} built_in[] = {
    { "inter-server",
      { { "rtx2080ti", 11 }, { "t4", 16 }, { "p4", 8 }, { "rtx3060ti", 8 } },
      { { 0, 44.26, 32.92, 44.28 },
        { 42.39, 0, 35.32, 44.51 },
        { 33.2, 35.31, 0, 32.95 },
        { 42.08, 43.22, 33.28, 0 } },
      10000 },
    { "intra-server",
      { { "v100", 32 }, { "v100", 32 }, { "p100", 16 }, { "p100", 16 } },
      { { 0, 1170.04, 626.10, 610.56 },
        { 1148.16, 0, 618.98, 581.09 },
        { 630.43, 609.82, 0, 571.96 },
        { 622.67, 575.08, 581.35, 0 } },
      5000 },
};

START_TEST(the_built_in_clusters_are_the_papers)
{
    const char *text = mo_cluster_builtin_find(built_in[_i].name)->text;
    mo_cluster *cluster = problem_cluster_read(text);

    ck_assert_str_eq(cluster->name, built_in[_i].name);
    ck_assert_int_eq(cluster->n_devices, 4);
    ck_assert_int_eq(cluster->n_links, 12);
    for (int k = 0; k < 4; k++) {
        const mo_device *device = &cluster->devices[k];

        ck_assert_int_eq(device->id[0], 'A' + k);
        ck_assert_str_eq(device->known->name, built_in[_i].devices[k].model);
        ck_assert_int_eq(device->memory_bytes,
                         (int64_t) built_in[_i].devices[k].gib << 30);
    }
    for (int l = 0; l < cluster->n_links; l++) {
        const mo_link *link = &cluster->links[l];

        ck_assert_double_eq(link->gbps,
                            built_in[_i].gbps[link->from][link->to]);
        ck_assert_int_eq(link->latency_ns, built_in[_i].latency_ns);
    }
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(the_others_are_one_device_of_this_machine)
{
    static const char *const names[] = { "cpu", "gpu" };
    int n = 0;

    for (int i = 0; i < COUNT(names); i++) {
        mo_cluster *cluster =
            problem_cluster_read(mo_cluster_builtin_find(names[i])->text);

        ck_assert_int_eq(cluster->n_devices, 1);
        ck_assert_str_eq(cluster->devices[0].id, names[i]);
        ck_assert_int_eq(cluster->devices[0].is_cpu, i == 0);
        mo_cluster_free(cluster);
    }
    for (; mo_cluster_builtins[n].name; n++)
        ck_assert_ptr_nonnull(mo_cluster_builtins[n].help);
    ck_assert_int_eq(n, COUNT(built_in) + COUNT(names));
    ck_assert_ptr_null(mo_cluster_builtin_find("inter"));
}
END_TEST

/* Files of one device each; its id identifies the file. */
static void write_cluster(const char *file, const char *id)
{
    char text[256];

    snprintf(text, sizeof text, "<cluster><device id='%s'/></cluster>", id);
    scratch_write(file, text);
}

static void make_files(void)
{
    scratch_enter();
    mkdir("sub", 0777);
    mkdir("intra-server", 0777);
    write_cluster("mine.xml", "mine");
    write_cluster("net.cluster.xml", "beside");
    write_cluster("sub/net.cluster.xml", "sub");
    write_cluster("plain.cluster.xml", "plain");
    write_cluster(".hidden.cluster.xml", "hidden");
    scratch_write("broken.cluster.xml", "<cluster>");
}

static const struct {
    const char *given, *graph, *variable;
    const char *first_id, *where;
} choices[] = {
    { "mine.xml", "net.graphml", "mine.xml", "mine", "mine.xml" },
    { "inter-server", "net.graphml", NULL, "A", "the built-in inter-server" },
    { "intra-server", NULL, NULL, "A", "the built-in intra-server" },
    { NULL, "net.graphml", "mine.xml", "beside",
      "net.cluster.xml, beside the graph" },
    { NULL, "net.xml", NULL, "beside", "net.cluster.xml, beside the graph" },
    { NULL, "./net.xml", NULL, "beside",
      "./net.cluster.xml, beside the graph" },
    { NULL, "sub/net.xml", NULL, "sub",
      "sub/net.cluster.xml, beside the graph" },
    { NULL, "plain", NULL, "plain", "plain.cluster.xml, beside the graph" },
    { NULL, ".hidden", NULL, "hidden",
      ".hidden.cluster.xml, beside the graph" },
    { NULL, "net.v2.xml", "mine.xml", "mine", "mine.xml, from MOIRAI_CLUSTER" },
    { NULL, "no/such/net.xml", "intra-server", "A",
      "the built-in intra-server, from MOIRAI_CLUSTER" },
    { NULL, "-", "mine.xml", "mine", "mine.xml, from MOIRAI_CLUSTER" },
    { NULL, "other.graphml", "", "A",
      "the built-in inter-server, since none was given" },
    { NULL, NULL, NULL, "A",
      "the built-in inter-server, since none was given" },
};

static void set_variable(const char *value)
{
    if (value)
        setenv("MOIRAI_CLUSTER", value, 1);
    else
        unsetenv("MOIRAI_CLUSTER");
}

START_TEST(the_nearest_cluster_is_taken)
{
    mo_cluster *cluster;
    char *where;

    set_variable(choices[_i].variable);
    MUST(mo_cluster_choose(choices[_i].given, choices[_i].graph, &cluster,
                           &where, &err));
    ck_assert_str_eq(cluster->devices[0].id, choices[_i].first_id);
    ck_assert_str_eq(where, choices[_i].where);
    free(where);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(a_file_does_not_hide_a_built_in_cluster)
{
    static const struct {
        const char *given, *first_id, *where;
    } names[] = { { "inter-server", "A", "the built-in inter-server" },
                  { "./inter-server", "file", "./inter-server" } };
    mo_cluster *cluster;
    char *where;

    write_cluster("inter-server", "file");
    MUST(mo_cluster_choose(names[_i].given, NULL, &cluster, &where, &err));
    remove("inter-server");
    ck_assert_str_eq(cluster->devices[0].id, names[_i].first_id);
    ck_assert_str_eq(where, names[_i].where);
    free(where);
    mo_cluster_free(cluster);
}
END_TEST

static const struct {
    const char *given, *graph, *message;
} dead_ends[] = {
    { "nowhere", NULL,
      "there is no cluster 'nowhere'; give a file or one of the built-in "
      "inter-server, intra-server, cpu, gpu" },
    { "sub/no.xml", NULL,
      "there is no cluster 'sub/no.xml'; give a file or one of the built-in "
      "inter-server, intra-server, cpu, gpu" },
    { "sub", NULL, "sub: is a directory; give a file in it" },
    { NULL, "broken.graphml",
      "broken.cluster.xml:1: the file ends inside element <cluster> of line "
      "1; it is truncated or damaged, fetch or write it again" },
};

START_TEST(what_is_given_must_be_there)
{
    mo_cluster *cluster = NULL;
    char *where = NULL, message[2048];
    mo_error err = { 0 };

    set_variable(NULL);
    ck_assert_int_ne(mo_cluster_choose(dead_ends[_i].given, dead_ends[_i].graph,
                                       &cluster, &where, &err),
                     MO_OK);
    ck_assert_ptr_null(cluster);
    ck_assert_ptr_null(where);
    ck_assert_str_eq(mo_error_format(&err, message, sizeof message),
                     dead_ends[_i].message);
}
END_TEST

SUITE(cluster_choice)
{
    tcase_add_unchecked_fixture(tests, make_files, scratch_leave);
    EACH(the_built_in_clusters_are_the_papers, COUNT(built_in));
    TEST(the_others_are_one_device_of_this_machine);
    EACH(the_nearest_cluster_is_taken, COUNT(choices));
    EACH(a_file_does_not_hide_a_built_in_cluster, 2);
    EACH(what_is_given_must_be_there, COUNT(dead_ends));
}
