/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/profile.h: files that are read, written and refused, and what
 * is found in them. */
#include "cost/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/operator.h"
#include "tests/support/suite.h"

static mo_profile *read_text(const char *text)
{
    mo_profile *profile;

    MUST(mo_profile_read_memory("p.xml", text, strlen(text), &profile, &err));
    return profile;
}

/* The profile as it is written; free() it. */
static char *written(const mo_profile *profile)
{
    mo_out *out;
    char *text;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    mo_profile_write(profile, out);
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    mo_out_abandon(out);
    return text;
}

static uint64_t digest_of(const char *text)
{
    mo_profile *profile = read_text(text);
    uint64_t digest = 0;

    MUST(mo_profile_digest(profile, &digest, &err));
    mo_profile_free(profile);
    return digest;
}

static mo_device device(const char *id, const char *model)
{
    mo_device made = { .id = id, .model = model };

    made.known = model ? mo_device_find(model) : NULL;
    return made;
}

static const char example[] =
    "<profile host='lab'>\n"
    "  <op device='B' signature='ReLU(f32[8]) f32[8]' median_us='2.5'/>\n"
    "  <op device='A' signature='ReLU(f32[8]) f32[8]' median_us='1.25'\n"
    "      spread_us='0.5' count='100' flops='8' bytes='64' outputs='8'\n"
    "      class='activation'/>\n"
    "  <link from='A' to='B' latency_us='10' gbps='80' from_bytes='4096'/>\n"
    "  <link from='A' to='B' latency_us='4' gbps='8'/>\n"
    "</profile>\n";

START_TEST(rows_are_read_and_sorted)
{
    mo_profile *p = read_text(example);
    const mo_profile_op *a = &p->ops[0], *b = &p->ops[1];

    ck_assert_str_eq(p->host, "lab");
    ck_assert_str_eq(p->file, "p.xml");
    ck_assert_int_eq(p->n_ops, 2);
    ck_assert_str_eq(a->device, "A");
    ck_assert_str_eq(a->signature, "ReLU(f32[8]) f32[8]");
    ck_assert_double_eq(a->median_us, 1.25);
    ck_assert_double_eq(a->spread_us, 0.5);
    ck_assert_int_eq(a->count, 100);
    ck_assert_double_eq(a->flops, 8);
    ck_assert_double_eq(a->bytes, 64);
    ck_assert_double_eq(a->output_elements, 8);
    ck_assert_int_eq(a->class, MO_CLASS_ACTIVATION);
    ck_assert_int_eq(a->line, 3);

    ck_assert_str_eq(b->device, "B");
    ck_assert_double_eq(b->spread_us, 0);
    ck_assert_int_eq(b->count, 1);
    ck_assert_double_eq(b->flops, MO_UNKNOWN);
    ck_assert_int_eq(b->class, MO_UNKNOWN);

    ck_assert_int_eq(p->n_links, 2);
    ck_assert_int_eq(p->links[0].from_bytes, 0);
    ck_assert_int_eq(p->links[1].from_bytes, 4096);
    mo_profile_free(p);
}
END_TEST

START_TEST(what_is_written_is_the_same_every_time)
{
    static const char wanted[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<profile host=\"lab\">\n"
        "  <op device=\"A\" signature=\"ReLU(f32[8]) f32[8]\" "
        "median_us=\"1.25\" spread_us=\"0.5\" count=\"100\" flops=\"8\" "
        "bytes=\"64\" outputs=\"8\" class=\"activation\"/>\n"
        "  <op device=\"B\" signature=\"ReLU(f32[8]) f32[8]\" "
        "median_us=\"2.5\" spread_us=\"0\" count=\"1\"/>\n"
        "  <link from=\"A\" to=\"B\" latency_us=\"4\" gbps=\"8\"/>\n"
        "  <link from=\"A\" to=\"B\" latency_us=\"10\" gbps=\"80\" "
        "from_bytes=\"4096\"/>\n"
        "</profile>\n";
    mo_profile *first = read_text(example), *second;
    char *once = written(first), *twice;

    ck_assert_str_eq(once, wanted);
    second = read_text(once);
    twice = written(second);
    ck_assert_str_eq(twice, wanted);
    free(once);
    free(twice);
    mo_profile_free(first);
    mo_profile_free(second);
}
END_TEST

#define A_LINK "<link from='A' to='B' latency_us='4' gbps='8'/></profile>"

START_TEST(parts_of_a_gpu_come_back)
{
    static const char parts[] =
        "<profile emulated='64,32' host='lab' in_flight='4'>" A_LINK;
    mo_profile *p = read_text(parts);
    char *text = written(p);

    ck_assert_str_eq(p->emulated, "64,32");
    ck_assert_ptr_nonnull(strstr(text,
                                 "<profile host=\"lab\" emulated=\"64,32\" "
                                 "in_flight=\"4\">"));
    ck_assert_uint_eq(digest_of(parts), digest_of("<profile>" A_LINK));
    free(text);
    mo_profile_free(p);
}
END_TEST

START_TEST(time_of_the_host_comes_back)
{
    static const char measured[] =
        "<profile host_request_us='7.5' host_transfer_us='4' "
        "parts_slowdown='1.25' parts_overhead_us='2.5'>" A_LINK;
    mo_profile *p = read_text(measured);
    char *text = written(p);

    ck_assert_double_eq(p->host_request_us, 7.5);
    ck_assert_double_eq(p->host_transfer_us, 4);
    ck_assert_double_eq(p->parts_slowdown, 1.25);
    ck_assert_double_eq(p->parts_overhead_us, 2.5);
    ck_assert_ptr_nonnull(
        strstr(text, "<profile host_request_us=\"7.5\" host_transfer_us=\"4\" "
                     "parts_slowdown=\"1.25\" parts_overhead_us=\"2.5\">"));
    ck_assert_uint_ne(digest_of(measured), digest_of("<profile>" A_LINK));
    free(text);
    mo_profile_free(p);
}
END_TEST

START_TEST(overhead_of_transfers_comes_back)
{
    static const char measured[] =
        "<profile overhead_us='2.5' copy_gbs='20'>" A_LINK;
    mo_profile *p = read_text(measured);
    char *text = written(p);

    ck_assert_double_eq(p->overhead_us, 2.5);
    ck_assert_double_eq(p->copy_gbs, 20);
    ck_assert_ptr_nonnull(
        strstr(text, "<profile overhead_us=\"2.5\" copy_gbs=\"20\">"));
    ck_assert_uint_ne(digest_of(measured), digest_of("<profile>" A_LINK));
    free(text);
    mo_profile_free(p);
}
END_TEST

START_TEST(what_xml_cannot_hold_comes_back)
{
    mo_profile *p = read_text("<profile><op device='&lt;&quot;&amp;' "
                              "signature='&gt;&#9;x' median_us='1'/>"
                              "</profile>");
    char *text = written(p);
    mo_profile *again = read_text(text);

    ck_assert_str_eq(again->ops[0].device, "<\"&");
    ck_assert_str_eq(again->ops[0].signature, ">\tx");
    free(text);
    mo_profile_free(p);
    mo_profile_free(again);
}
END_TEST

START_TEST(the_digest_is_of_the_rows)
{
    uint64_t digest = digest_of(example);

    ck_assert(digest ==
              digest_of("<profile>"
                        "<link from='A' to='B' gbps='8' latency_us='4'/>"
                        "<link from='A' to='B' from_bytes='4096' gbps='80'"
                        " latency_us='10'/>"
                        "<op class='activation' device='A' median_us='1.250'"
                        " signature='ReLU(f32[8]) f32[8]' spread_us='.5'"
                        " count='100' flops='8' bytes='64' outputs='8'/>"
                        "<op device='B' signature='ReLU(f32[8]) f32[8]'"
                        " median_us='2.5'/></profile>"));
    ck_assert(digest != digest_of("<profile><op device='A' signature='x' "
                                  "median_us='1'/></profile>"));
}
END_TEST

static const struct {
    const char *id, *model;
    double us;
} lookups[] = {
    { "A", "t4", 1 },       /* the id comes first */
    { "B", "t4", 2 },       /* then the model */
    { "B", "Tesla T4", 2 }, /* by any of its names */
    { "B", "rtx3090", 3 },  /* whatever the file calls it */
    { "own", "custom", 4 }, /* unknown models, too */
    { "T4", NULL, 2 },      /* an id that is called after a model */
    { "t4", NULL, NAN },    /* is an id all the same */
    { "B", "v100", NAN },   { "B", NULL, NAN },
};

START_TEST(times_are_found_by_id_then_by_model)
{
    mo_profile *p = read_text(
        "<profile>"
        "<op device='A' signature='x' median_us='1'/>"
        "<op device='T4' signature='x' median_us='2'/>"
        "<op device='NVIDIA GeForce RTX 3090' signature='x' median_us='3'/>"
        "<op device='custom' signature='x' median_us='4'/>"
        "<op device='custom' signature='y' median_us='5'/>"
        "</profile>");
    mo_device d = device(lookups[_i].id, lookups[_i].model);
    double us = mo_profile_time_us(p, &d, "x");

    if (isnan(lookups[_i].us))
        ck_assert(isnan(us) && !mo_profile_find(p, &d, "x"));
    else
        ck_assert_double_eq(us, lookups[_i].us);
    ck_assert(isnan(mo_profile_time_us(p, &d, "z")));
    mo_profile_free(p);
}
END_TEST

static const struct {
    const char *from, *to;
    int64_t bytes;
    double ns;
} messages[] = {
    { "A", "B", 0, 4000 },
    { "A", "B", 1000, 5000 }, /* eight bits a nanosecond */
    { "A", "B", 4095, 4000 + 4095 },
    { "A", "B", 4096, 10000 + 409.6 },
    { "A", "B", 1000000, 10000 + 100000 },
    { "B", "A", 1000, 2000 + 4000 }, /* smaller than any that was measured */
    { "C", "D", 1000, 1000 },        /* by their models */
    { "B", "C", 1000, NAN },
    { "A", "A", 1000, NAN },
};

START_TEST(messages_take_latency_and_size_over_bandwidth_by_size)
{
    mo_profile *p = read_text(
        "<profile>"
        "<link from='B' to='A' latency_us='2' gbps='2' from_bytes='4096'/>"
        "<link from='A' to='B' latency_us='10' gbps='80' from_bytes='4096'/>"
        "<link from='A' to='B' latency_us='4' gbps='8'/>"
        "<link from='v100' to='V100' latency_us='0' gbps='8'/>"
        "</profile>");
    const char *from = messages[_i].from, *to = messages[_i].to;
    mo_device a = device(from, *from >= 'C' ? "v100" : NULL);
    mo_device b = device(to, *to >= 'C' ? "v100" : NULL);
    double ns = mo_profile_link_ns(p, &a, &b, messages[_i].bytes);

    if (isnan(messages[_i].ns))
        ck_assert(isnan(ns));
    else
        ck_assert_double_eq_tol(ns, messages[_i].ns, 1e-9);
    mo_profile_free(p);
}
END_TEST

static const struct {
    const char *rows;
    bool fits;
} machines[] = {
    { "<op device='A' signature='x' median_us='1'/>", true },
    { "<op device='v100' signature='x' median_us='1'/>", true },
    { "<op device='Tesla V100-SXM2-32GB' signature='x' median_us='1'/>", true },
    { "<op device='t4' signature='x' median_us='1'/>"
      "<op device='custom' signature='x' median_us='1'/>",
      true },
    { "<link from='A' to='B' gbps='1'/>", true },
    { "<link from='A' to='C' gbps='1'/>", false },
    { "<op device='t4' signature='x' median_us='1'/>", false },
    { "<op device='a' signature='x' median_us='1'/>", false },
};

START_TEST(a_profile_fits_a_cluster_that_has_one_of_its_devices)
{
    mo_device devices[] = { device("A", "v100"), device("B", "custom") };
    mo_cluster cluster = { .devices = devices, .n_devices = 2 };
    char text[256];
    mo_profile *p;

    snprintf(text, sizeof text, "<profile>%s</profile>", machines[_i].rows);
    p = read_text(text);
    ck_assert_int_eq(mo_profile_check_cluster(p, &cluster, NULL) == MO_OK,
                     machines[_i].fits);
    mo_profile_free(p);
}
END_TEST

START_TEST(a_profile_of_another_machine_is_refused_by_both_names)
{
    mo_device devices[] = { device("A", "v100"), device("B", NULL) };
    mo_cluster cluster = { .devices = devices, .n_devices = 2 };
    mo_profile *p = read_text("<profile host='far'>"
                              "<op device='Tesla T4' signature='x' "
                              "median_us='1'/>"
                              "<op device='P' signature='x' median_us='1'/>"
                              "</profile>");
    mo_error err = { 0 };
    char text[2048];

    ck_assert_int_eq(mo_profile_check_cluster(p, &cluster, &err), MO_E_INPUT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     "p.xml: a profile of another machine: it is of P, "
                     "Tesla T4 on far, and the cluster is A (v100), B; profile "
                     "these, or give their cluster");
    mo_profile_free(p);
}
END_TEST

START_TEST(of_many_devices_a_few_are_named)
{
    mo_device devices[20];
    mo_cluster cluster = { .devices = devices, .n_devices = 20 };
    mo_profile *p = read_text("<profile><op device='P' signature='x' "
                              "median_us='1'/></profile>");
    mo_error err = { 0 };

    for (int k = 0; k < 20; k++)
        devices[k] = device("a-name-that-is-much-too-long-for-one-line",
                            "a-model-that-is-much-too-long-for-one-line");
    ck_assert_int_eq(mo_profile_check_cluster(p, &cluster, &err), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "and 14 more"));
    ck_assert_ptr_nonnull(strstr(err.text, "give their cluster"));
    mo_profile_free(p);
}
END_TEST

#define OP "<op device='A' signature='x' median_us='1'/>"

static const struct {
    const char *text, *error;
} refused[] = {
    { "<cluster/>",
      "p.xml:1: is no profile: it begins with <cluster>, not <profile>" },
    { "<profile/>",
      "p.xml: has no <op>, no <link> and no <rate>; a profile needs one at "
      "least" },
    { "<profile><rate device='A' gflops='1' bandwidth_gbs='1'/>\n"
      "<rate device='A' gflops='2' bandwidth_gbs='1'/></profile>",
      "p.xml:2: rates of 'A' are there already, from line 1; keep one of "
      "them" },
    { "<profile><rate device='A' gflops='1'/></profile>",
      "p.xml:1: this <rate> has no bandwidth_gbs; give it one" },
    { "<profile>\n<node/></profile>",
      "p.xml:2: a <profile> has no <node>; it has <op> and <link> and <rate>" },
    { "<profile><op device='A' signature='x' median_us='1'>\n<op/></op>"
      "</profile>",
      "p.xml:2: <op> is inside a row of <profile>; remove it: rows have no "
      "elements" },
    { "<profile name='x'/>",
      "p.xml:1: a <profile> has no attribute 'name'; it has host, "
      "emulated, in_flight, overhead_us, copy_gbs, host_request_us, "
      "host_transfer_us, parts_slowdown, parts_overhead_us" },
    { "<profile><op signature='x' median_us='1'/></profile>",
      "p.xml:1: this <op> has no device; give it one" },
    { "<profile><op device='A' median_us='1'/></profile>",
      "p.xml:1: this <op> has no signature; give it one" },
    { "<profile><op device='A' signature='' median_us='1'/></profile>",
      "p.xml:1: this <op> has no signature; give it one" },
    { "<profile><op device='A' signature='x'/></profile>",
      "p.xml:1: this <op> has no median_us; give it one" },
    { "<profile><op device='A' signature='x' median_us='-1'/></profile>",
      "p.xml:1: median_us '-1' of a <op> must be a number that is not "
      "negative" },
    { "<profile><op device='A' signature='x' median_us='1e400'/></profile>",
      "p.xml:1: median_us '1e400' of a <op> must be a number that is not "
      "negative" },
    { "<profile><op device='A' signature='x' median_us='nan'/></profile>",
      "p.xml:1: median_us 'nan' of a <op> must be a number that is not "
      "negative" },
    { "<profile><op device='A' signature='x' median_us='1' count='0'/>"
      "</profile>",
      "p.xml:1: count '0' of a <op> must be a whole number from 1 on" },
    { "<profile><op device='A' signature='x' median_us='1' class='big'/>"
      "</profile>",
      "p.xml:1: class 'big' of an <op> is none of the operator classes in "
      "moirai-graph(5)" },
    { "<profile><op device='A' signature='x' mean_us='1'/></profile>",
      "p.xml:1: a <op> has no attribute 'mean_us'; it has device, signature, "
      "median_us, spread_us, count, flops, bytes, outputs, class" },
    { "<profile>" OP "\n" OP "</profile>",
      "p.xml:2: 'x' on 'A' is there already, from line 1; keep one of them" },
    { "<profile><op device='t4' signature='x' median_us='1'/>\n"
      "<op device='Tesla T4' signature='x' median_us='1'/></profile>",
      "p.xml:2: 'x' on 't4' is there already, from line 1; keep one of "
      "them" },
    { "<profile><link to='B' gbps='1'/></profile>",
      "p.xml:1: this <link> has no from; give it one" },
    { "<profile><link from='A' gbps='1'/></profile>",
      "p.xml:1: this <link> has no to; give it one" },
    { "<profile><link from='A' to='B'/></profile>",
      "p.xml:1: this <link> has no gbps; give it one" },
    { "<profile><link from='A' to='B' gbps='0'/></profile>",
      "p.xml:1: gbps '0' of a <link> must be a number greater than 0" },
    { "<profile><link from='A' to='B' gbps='1' from_bytes='0.5'/></profile>",
      "p.xml:1: from_bytes '0.5' of a <link> must be a whole number of "
      "bytes" },
    { "<profile><link from='A' to='B' gbps='1'/>\n"
      "<link from='A' to='B' gbps='2' from_bytes='0'/></profile>",
      "p.xml:2: the link from 'A' to 'B' for as many bytes is there already, "
      "from line 1; keep one of them" },
};

START_TEST(errors_are_reported_in_one_line)
{
    const char *text = refused[_i].text;
    mo_profile *profile = NULL;
    mo_error err = { 0 };
    char line[2048];

    ck_assert_int_ne(
        mo_profile_read_memory("p.xml", text, strlen(text), &profile, &err),
        MO_OK);
    ck_assert_ptr_null(profile);
    ck_assert_str_eq(mo_error_format(&err, line, sizeof line),
                     refused[_i].error);
}
END_TEST

START_TEST(broken_xml_is_reported_with_its_line)
{
    static const char text[] = "<profile>\n<op device='";
    mo_profile *profile = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(
        mo_profile_read_memory("p.xml", text, strlen(text), &profile, &err),
        MO_E_SYNTAX);
    ck_assert_str_eq(err.file, "p.xml");
    ck_assert_int_ge(err.line, 2);
    ck_assert_int_ne(mo_profile_read("no/such/file", &profile, &err), MO_OK);
    ck_assert_ptr_null(profile);
}
END_TEST

START_TEST(foreign_elements_and_attributes_are_skipped)
{
    mo_profile *p = read_text("<profile xmlns:x='urn:x'><x:op><op/></x:op>"
                              "<op device='A' signature='x' median_us='1' "
                              "x:device='B'/></profile>");

    ck_assert_int_eq(p->n_ops, 1);
    ck_assert_str_eq(p->ops[0].device, "A");
    mo_profile_free(p);
}
END_TEST

/* 1e9 operations at 500 GFLOP/s take 2 ms, 1e6 bytes at 100 GB/s 10 us. */
START_TEST(rates_predict_by_id_then_by_model)
{
    mo_profile *p = read_text(
        "<profile><rate device='RTX 3090' gflops='500' bandwidth_gbs='100'"
        " overhead_us='3'/>"
        "<rate device='B' gflops='1000' bandwidth_gbs='50'/></profile>");
    mo_device a = { .id = "A", .known = mo_device_find("rtx3090") };
    mo_device b = { .id = "B", .known = a.known };
    mo_device other = { .id = "C" };

    ck_assert(fabs(mo_profile_rate_us(p, &a, 1e9, 1e6) - 2003) < 1e-9);
    ck_assert(fabs(mo_profile_rate_us(p, &a, 0, 1e6) - 13) < 1e-9);
    ck_assert(fabs(mo_profile_rate_us(p, &b, 1e9, 1e6) - 1000) < 1e-9);
    ck_assert(fabs(mo_profile_rate_us(p, &b, 0, 1e6) - 20) < 1e-9);
    ck_assert(isnan(mo_profile_rate_us(p, &other, 1e9, 1e6)));
    ck_assert(isnan(mo_profile_rate_us(p, &a, MO_UNKNOWN, 1e6)));
    mo_profile_free(p);
}
END_TEST

START_TEST(rates_come_back)
{
    mo_profile *p = read_text(
        "<profile><rate device='B' gflops='1' bandwidth_gbs='2'/>"
        "<rate device='A' gflops='0.1' bandwidth_gbs='3' overhead_us='4'/>"
        "</profile>");
    char *text = written(p);
    mo_profile *back = read_text(text);
    uint64_t digests[2];

    ck_assert_int_eq(back->n_rates, 2);
    ck_assert_str_eq(back->rates[0].device, "A");
    ck_assert(back->rates[0].gflops == 0.1);
    ck_assert(back->rates[1].bandwidth_gbs == 2);
    ck_assert_int_eq(mo_profile_digest(p, &digests[0], NULL), MO_OK);
    ck_assert_int_eq(mo_profile_digest(back, &digests[1], NULL), MO_OK);
    ck_assert(digests[0] == digests[1]);
    free(text);
    mo_profile_free(p);
    mo_profile_free(back);
}
END_TEST

SUITE(profile)
{
    TEST(rates_predict_by_id_then_by_model);
    TEST(rates_come_back);
    TEST(rows_are_read_and_sorted);
    TEST(what_is_written_is_the_same_every_time);
    TEST(parts_of_a_gpu_come_back);
    TEST(overhead_of_transfers_comes_back);
    TEST(time_of_the_host_comes_back);
    TEST(what_xml_cannot_hold_comes_back);
    TEST(the_digest_is_of_the_rows);
    EACH(times_are_found_by_id_then_by_model, COUNT(lookups));
    EACH(messages_take_latency_and_size_over_bandwidth_by_size,
         COUNT(messages));
    EACH(a_profile_fits_a_cluster_that_has_one_of_its_devices, COUNT(machines));
    TEST(a_profile_of_another_machine_is_refused_by_both_names);
    TEST(of_many_devices_a_few_are_named);
    EACH(errors_are_reported_in_one_line, COUNT(refused));
    TEST(broken_xml_is_reported_with_its_line);
    TEST(foreign_elements_and_attributes_are_skipped);
}
