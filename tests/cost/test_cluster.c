/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster.h: files that are read, and their digests. */
#include <config.h>

#include "cost/cluster.h"

#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "cost/cluster/cluster_write.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_link *find_link(const mo_cluster *cluster, const char *from,
                                const char *to)
{
    for (int l = 0; l < cluster->n_links; l++) {
        const mo_link *link = &cluster->links[l];

        if (strcmp(cluster->devices[link->from].id, from) == 0 &&
            strcmp(cluster->devices[link->to].id, to) == 0)
            return link;
    }
    return NULL;
}

/* The example of the manual. */
static const char example[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<cluster name='lab'>\n"
    "  <device id='A' model='rtx2080ti' memory_gib='11'/>\n"
    "  <device id='B' model='t4'/>  <!-- the rest from the table -->\n"
    "  <device id='H' kind='cpu' gflops='120' memory_bandwidth_gbs='40'\n"
    "          memory_gib='16'/>\n"
    "  <link from='A' to='B' gbps='44.26' latency_us='10'/>\n"
    "  <link from='B' to='A' gbps='42.39'/>\n"
    "  <link between='A H' gbps='100'/>\n"
    "</cluster>\n";

START_TEST(the_example_of_the_manual_is_read)
{
    mo_cluster *cluster = problem_cluster_read(example);
    const mo_device *a = &cluster->devices[0], *b = &cluster->devices[1],
                    *h = &cluster->devices[2];

    ck_assert_str_eq(cluster->name, "lab");
    ck_assert_str_eq(cluster->file, "c.xml");
    ck_assert_int_eq(cluster->n_devices, 3);
    ck_assert_int_eq(cluster->n_links, 4);
    ck_assert_int_eq(mo_cluster_find(cluster, "H"), 2);
    ck_assert_int_eq(mo_cluster_find(cluster, "h"), -1);

    ck_assert_str_eq(a->id, "A");
    ck_assert_int_eq(a->line, 3);
    ck_assert_str_eq(a->known->name, "rtx2080ti");
    ck_assert_int_eq(a->memory_bytes, INT64_C(11) << 30);
    ck_assert_int_eq(b->memory_bytes, INT64_C(16) << 30);
    ck_assert_double_eq(b->gflops[MO_MATH_F32], 8100);
    ck_assert_double_eq(b->bandwidth_gbs, 320);
    ck_assert_double_eq(b->clock_mhz, 1590);
    ck_assert_double_eq(b->launch_us, 7);
    ck_assert_int_eq(b->sms, 40);
    ck_assert(!b->is_cpu);
    ck_assert(h->is_cpu);
    ck_assert_ptr_null(h->known);
    ck_assert_double_eq(h->gflops[MO_MATH_F32], 120);
    ck_assert_double_eq(h->bandwidth_gbs, 40);
    ck_assert_double_eq(h->launch_us, 0);

    ck_assert_double_eq(find_link(cluster, "A", "B")->gbps, 44.26);
    ck_assert_int_eq(find_link(cluster, "A", "B")->latency_ns, 10000);
    ck_assert_double_eq(find_link(cluster, "B", "A")->gbps, 42.39);
    ck_assert_int_eq(find_link(cluster, "B", "A")->latency_ns, 0);
    ck_assert_double_eq(find_link(cluster, "A", "H")->gbps, 100);
    ck_assert_double_eq(find_link(cluster, "H", "A")->gbps, 100);
    ck_assert_ptr_null(find_link(cluster, "B", "H"));
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(attributes_win_over_the_table)
{
    mo_cluster *cluster = problem_cluster_read(
        "<cluster><device id='A' model='Tesla T4' gflops='1.5' sms='3' "
        "memory_bandwidth_gbs='2.5' clock_mhz='4' launch_us='0' "
        "memory_bytes='100' reserve_bytes='30' rank='7' gpu='2' "
        "host='node1' threads='5' cpus='8,0-2'/></cluster>");
    const mo_device *a = &cluster->devices[0];

    ck_assert_str_eq(a->model, "Tesla T4");
    ck_assert_str_eq(a->known->name, "t4");
    ck_assert_double_eq(a->gflops[MO_MATH_F32], 1.5);
    ck_assert_double_eq(a->bandwidth_gbs, 2.5);
    ck_assert_double_eq(a->clock_mhz, 4);
    ck_assert_double_eq(a->launch_us, 0);
    ck_assert_int_eq(a->sms, 3);
    ck_assert_int_eq(a->memory_bytes, 70);
    ck_assert_int_eq(a->rank, 7);
    ck_assert_int_eq(a->gpu, 2);
    ck_assert_str_eq(a->host, "node1");
    ck_assert_int_eq(a->threads, 5);
    ck_assert_int_eq(a->n_cpus, 4);
    ck_assert_int_eq(a->cpus[0], 0);
    ck_assert_int_eq(a->cpus[3], 8);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(as_many_threads_as_processors)
{
    mo_cluster *cluster = problem_cluster_read(
        "<cluster><device id='A' kind='cpu' cpus='4095'/>"
        "<device id='B' kind='cpu' cpus='0-4095'/></cluster>");

    ck_assert_int_eq(cluster->devices[0].threads, 1);
    ck_assert_int_eq(cluster->devices[0].cpus[0], 4095);
    ck_assert_int_eq(cluster->devices[1].threads, 4096);
    mo_cluster_free(cluster);
}
END_TEST

/* Its times will be measured ones. */
START_TEST(an_unknown_model_has_no_numbers)
{
    mo_cluster *cluster = problem_cluster_read(
        "<cluster><device id='A' model='tpu9'/></cluster>");
    const mo_device *a = &cluster->devices[0];

    ck_assert_str_eq(a->model, "tpu9");
    ck_assert_ptr_null(a->known);
    ck_assert_double_eq(a->gflops[MO_MATH_F32], 0);
    ck_assert_double_eq(a->bandwidth_gbs, 0);
    ck_assert_int_eq(a->sms, 0);
    ck_assert_int_eq(a->memory_bytes, INT64_MAX);
    ck_assert_int_eq(a->rank, -1);
    ck_assert_int_eq(a->gpu, -1);
    ck_assert_ptr_null(a->host);
    ck_assert_int_eq(a->threads, 0);
    ck_assert_ptr_null(a->cpus);
    mo_cluster_free(cluster);
}
END_TEST

static const struct {
    const char *attributes;
    int64_t bytes;
} memories[] = {
    { "", INT64_MAX },
    { "model='p4'", INT64_C(8) << 30 },
    { "model='p4' reserve_bytes='8589934592'", 0 },
    { "model='p4' memory_gib='4'", INT64_C(4) << 30 },
    { "memory_gib='0.5'", 1 << 29 },
    { "memory_gib='1e-9'", 1 },
    { "memory_gib='0'", 0 },
    { "memory_bytes='61981000000'", INT64_C(61981000000) },
    { "memory_bytes='6.1981e10'", INT64_C(61981000000) },
    { "memory_bytes='9223372036854775806'", INT64_MAX - 1 },
    { "memory_bytes='0'", 0 },
    { "reserve_bytes='5'", INT64_MAX },
    { "memory_bytes='10' reserve_bytes='10'", 0 },
};

START_TEST(memory_is_what_is_left_of_it)
{
    char text[256];
    mo_cluster *cluster;

    snprintf(text, sizeof text, "<cluster><device id='A' %s/></cluster>",
             memories[_i].attributes);
    cluster = problem_cluster_read(text);
    ck_assert_int_eq(cluster->devices[0].memory_bytes, memories[_i].bytes);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(links_may_come_before_devices_and_are_sorted)
{
    mo_cluster *cluster = problem_cluster_read(
        "<cluster><link from='B' to='A' gbps='1'/>"
        "<link from='A' to='C' gbps='2' latency_us='0.0005'/>"
        "<link from='A' to='B' gbps='3' latency_us='1e8'/>"
        "<device id='C'/><device id='A'/><device id='B'/></cluster>");
    static const int ends[][2] = { { 1, 0 }, { 1, 2 }, { 2, 1 } };

    ck_assert_int_eq(cluster->n_links, COUNT(ends));
    for (int l = 0; l < COUNT(ends); l++) {
        ck_assert_int_eq(cluster->links[l].from, ends[l][0]);
        ck_assert_int_eq(cluster->links[l].to, ends[l][1]);
    }
    ck_assert_int_eq(cluster->links[0].latency_ns, 1);
    ck_assert_int_eq(cluster->links[1].latency_ns, MO_MAX_LATENCY_NS);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(a_kind_of_link_has_values_that_attributes_override)
{
    mo_cluster *cluster = problem_cluster_read(
        "<cluster><device id='A'/><device id='B'/><device id='C'/>"
        "<link from='A' to='B' kind='pcie4-x16'/>"
        "<link from='A' to='C' kind='pcie4-x16' gbps='150'/>"
        "<link from='B' to='A' kind='ethernet-2.5g' latency_us='0'/>"
        "</cluster>");

    ck_assert(cluster->links[0].gbps == 200);
    ck_assert_int_eq(cluster->links[0].latency_ns, 10000);
    ck_assert(cluster->links[1].gbps == 150);
    ck_assert_int_eq(cluster->links[1].latency_ns, 10000);
    ck_assert(cluster->links[2].gbps == 2.35);
    ck_assert_int_eq(cluster->links[2].latency_ns, 0);
    mo_cluster_free(cluster);
}
END_TEST

static const char *const strange_but_fine[] = {
    "<cluster xmlns='urn:us'><device id='A'/></cluster>",
    "<cluster xmlns:x='urn:x' x:y='z'><device id='A' x:id='B' x:new='1'/>"
    "<x:device id='A'/><x:a><device id='A' wrong='1'/></x:a></cluster>",
    "<m:cluster xmlns:m='urn:us'><m:device id='A'/><device/></m:cluster>",
    "<cluster name=''>text<device id='A' host='' model=''>text</device>"
    "</cluster>",
    "<!DOCTYPE cluster><cluster><?pi?><device id='A'/></cluster>",
};

START_TEST(what_others_add_is_passed_over)
{
    mo_cluster *cluster = problem_cluster_read(strange_but_fine[_i]);

    ck_assert_int_eq(cluster->n_devices, 1);
    ck_assert_str_eq(cluster->devices[0].id, "A");
    ck_assert_ptr_null(cluster->name);
    ck_assert_ptr_null(cluster->devices[0].host);
    mo_cluster_free(cluster);
}
END_TEST

static uint64_t digest_of(const char *text)
{
    mo_cluster *cluster = problem_cluster_read(text);
    uint64_t digest;

    MUST(mo_cluster_digest(cluster, &digest, &err));
    mo_cluster_free(cluster);
    return digest;
}

#define DEVICES(a) "<device id='A' " a "/><device id='B'/>"
#define LINKS      "<link from='A' to='B' gbps='1' latency_us='2'/>"
#define PLAIN      "<cluster>" DEVICES("model='t4'") LINKS "</cluster>"

static const char *const same[] = {
    "<cluster name='other'>\n" DEVICES("model='t4'") LINKS "</cluster>",
    "<cluster>" LINKS DEVICES("model='t4'") "</cluster>",
    "<cluster>" DEVICES("model='Tesla T4'") LINKS "</cluster>",
    "<cluster>" DEVICES("memory_gib='16' model='t4' gflops='8.1e3'") LINKS
    "</cluster>",
    "<cluster>" DEVICES("model='t4' rank='1' gpu='2' host='x' threads='2' "
                        "cpus='0-3'") LINKS "</cluster>",
};

START_TEST(the_digest_is_of_content)
{
    ck_assert(digest_of(same[_i]) == digest_of(PLAIN));
}
END_TEST

static const char *const other[] = {
    "<cluster>" DEVICES("") LINKS "</cluster>",
    "<cluster>" DEVICES("model='p4'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' memory_gib='15'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' reserve_bytes='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' gflops='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' memory_bandwidth_gbs='1'") LINKS
    "</cluster>",
    "<cluster>" DEVICES("model='t4' sms='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' clock_mhz='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' launch_us='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' overhead_us='1'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4' copy_gbs='1'") LINKS "</cluster>",
    "<cluster host_request_us='1'>" DEVICES("model='t4'") LINKS "</cluster>",
    "<cluster host_transfer_us='1'>" DEVICES("model='t4'") LINKS "</cluster>",
    "<cluster>" DEVICES("model='t4'") "</cluster>",
    "<cluster>" DEVICES("model='t4'") LINKS "<device id='C'/></cluster>",
    "<cluster>" DEVICES("model='t4'") "<link from='A' to='B' gbps='1' "
                                      "latency_us='3'/></cluster>",
    "<cluster>" DEVICES("model='t4'") "<link from='A' to='B' gbps='2' "
                                      "latency_us='2'/></cluster>",
    "<cluster>" DEVICES("model='t4'") "<link from='B' to='A' gbps='1' "
                                      "latency_us='2'/></cluster>",
    "<cluster><device id='B'/><device id='A' model='t4'/>" LINKS "</cluster>",
};

START_TEST(the_digest_distinguishes_contents)
{
    ck_assert(digest_of(other[_i]) != digest_of(PLAIN));
}
END_TEST

/* Solutions found on other machines contain it. */
START_TEST(the_digest_is_the_same_everywhere)
{
    ck_assert_uint_eq(
        digest_of("<cluster><device id='A' gflops='1.5' memory_bytes='7'/>"
                  "<device id='H' kind='cpu' model='mine' sms='2'/>"
                  "<link between='A H' gbps='0.1' latency_us='2'/></cluster>"),
        0x2793bab690eda41eu);
}
END_TEST

/* The peaks of types, and what else makes a model. */
START_TEST(figures_of_types_are_read_and_written)
{
    static const char *const texts[] = {
        "<cluster><device id='A' model='a100' f16_gflops='7.5'/></cluster>",
        "<cluster><device id='A' gflops='3' tf32_gflops='4' bf16_gflops='5' "
        "fp8_gflops='6' int8_gflops='7' fp4_gflops='8' cache_mib='9' "
        "watts='10' process_nm='11' generation='xe'/></cluster>",
        "<cluster><device id='A' model='epyc-7763' watts='9'/></cluster>",
    };
    mo_cluster *cluster = problem_cluster_read(texts[0]);

    ck_assert_double_eq(cluster->devices[0].gflops[MO_MATH_F16], 7.5);
    ck_assert_double_eq(cluster->devices[0].gflops[MO_MATH_BF16], 312000);
    ck_assert_double_eq(cluster->devices[0].watts, 400);
    ck_assert_int_eq(cluster->devices[0].generation, MO_GEN_AMPERE);
    mo_cluster_free(cluster);
    cluster = problem_cluster_read(texts[1]);
    for (int m = 0; m < MO_MATHS; m++)
        ck_assert_double_eq(cluster->devices[0].gflops[m],
                            m == MO_MATH_F16                        ? 0
                            : m == MO_MATH_F32 || m == MO_MATH_TF32 ? m + 3
                                                                    : m + 2);
    ck_assert_int_eq(cluster->devices[0].generation, MO_GEN_XE);
    mo_cluster_free(cluster);
    cluster = problem_cluster_read(texts[2]);
    ck_assert(cluster->devices[0].is_cpu);
    ck_assert_int_eq(cluster->devices[0].memory_bytes, INT64_MAX);
    mo_cluster_free(cluster);
    for (int i = 0; i < COUNT(texts); i++) {
        mo_out *out = NULL;
        char *written;
        size_t size;

        cluster = problem_cluster_read(texts[i]);
        MUST(mo_out_memory(&out, &err));
        mo_cluster_write(cluster, NULL, out);
        written = mo_out_take(out, &size);
        mo_out_abandon(out);
        ck_assert_uint_eq(digest_of(written), digest_of(texts[i]));
        free(written);
        mo_cluster_free(cluster);
    }
    ck_assert(digest_of(texts[0]) !=
              digest_of("<cluster><device id='A' model='a100'/></cluster>"));
    ck_assert_uint_eq(
        digest_of("<cluster><device id='A' model='a100' f16_gflops='312e3' "
                  "watts='400' generation='ampere'/></cluster>"),
        digest_of("<cluster><device id='A' model='a100'/></cluster>"));
}
END_TEST

/* As if its figures were written at the device, which may have others. */
START_TEST(own_models_have_figures)
{
    static const char own[] =
        "<cluster><model name='my-card' title='ACME Card 9' gflops='1000' "
        "f16_gflops='8000' memory_bandwidth_gbs='300' memory_gib='2' "
        "watts='75' generation='rdna'/>"
        "<model name='small' like='My Card' sms='4'/>"
        "<model name='cut' like='a100' memory_gib='20'/>"
        "<device id='A' model='ACME Card 9' gflops='900'/>"
        "<device id='B' model='small'/><device id='C' model='cut'/>"
        "<link between='A B' gbps='1'/><link between='B C' gbps='1'/>"
        "</cluster>";
    mo_cluster *cluster = problem_cluster_read(own);
    const mo_device *d = cluster->devices;

    ck_assert_str_eq(d[0].model, "my-card");
    ck_assert_ptr_null(d[0].known);
    ck_assert_double_eq(d[0].gflops[MO_MATH_F32], 900);
    ck_assert_double_eq(d[0].gflops[MO_MATH_F16], 8000);
    ck_assert_int_eq(d[0].memory_bytes, INT64_C(2) << 30);
    ck_assert_int_eq(d[0].generation, MO_GEN_RDNA);
    ck_assert_double_eq(d[1].gflops[MO_MATH_F32], 1000);
    ck_assert_double_eq(d[1].watts, 75);
    ck_assert_int_eq(d[1].sms, 4);
    ck_assert_double_eq(d[2].gflops[MO_MATH_BF16], 312000);
    ck_assert_int_eq(d[2].memory_bytes, INT64_C(20) << 30);
    ck_assert_int_eq(d[2].generation, MO_GEN_AMPERE);
    mo_cluster_free(cluster);
    ck_assert_uint_eq(
        digest_of("<cluster><model name='x' gflops='1' fp8_gflops='2'/>"
                  "<device id='A' model='X'/></cluster>"),
        digest_of("<cluster><device id='A' model='x' gflops='1' "
                  "fp8_gflops='2'/></cluster>"));
}
END_TEST

SUITE(cluster)
{
    TEST(own_models_have_figures);
    TEST(figures_of_types_are_read_and_written);
    TEST(the_example_of_the_manual_is_read);
    TEST(attributes_win_over_the_table);
    TEST(as_many_threads_as_processors);
    TEST(an_unknown_model_has_no_numbers);
    EACH(memory_is_what_is_left_of_it, COUNT(memories));
    TEST(links_may_come_before_devices_and_are_sorted);
    TEST(a_kind_of_link_has_values_that_attributes_override);
    EACH(what_others_add_is_passed_over, COUNT(strange_but_fine));
    EACH(the_digest_is_of_content, COUNT(same));
    EACH(the_digest_distinguishes_contents, COUNT(other));
    TEST(the_digest_is_the_same_everywhere);
}
