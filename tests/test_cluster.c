/* Claims of cost/cluster.h: files that are read, files that are refused, and
 * which file is taken. */
#include <config.h>

#include "cost/cluster.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/out.h"
#include "tests/scratch.h"
#include "tests/suite.h"

static mo_cluster *read_text(const char *text)
{
    mo_cluster *cluster;

    MUST(mo_cluster_read_memory("c.xml", text, strlen(text), &cluster, &err));
    return cluster;
}

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
    mo_cluster *cluster = read_text(example);
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
    ck_assert_double_eq(b->gflops, 8100);
    ck_assert_double_eq(b->bandwidth_gbs, 320);
    ck_assert_double_eq(b->clock_mhz, 1590);
    ck_assert_double_eq(b->launch_us, 7);
    ck_assert_int_eq(b->sms, 40);
    ck_assert(!b->is_cpu);
    ck_assert(h->is_cpu);
    ck_assert_ptr_null(h->known);
    ck_assert_double_eq(h->gflops, 120);
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
    mo_cluster *cluster = read_text(
        "<cluster><device id='A' model='Tesla T4' gflops='1.5' sms='3' "
        "memory_bandwidth_gbs='2.5' clock_mhz='4' launch_us='0' "
        "memory_bytes='100' reserve_bytes='30' rank='7' gpu='2' "
        "host='node1' threads='5' cpus='8,0-2'/></cluster>");
    const mo_device *a = &cluster->devices[0];

    ck_assert_str_eq(a->model, "Tesla T4");
    ck_assert_str_eq(a->known->name, "t4");
    ck_assert_double_eq(a->gflops, 1.5);
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
    mo_cluster *cluster =
        read_text("<cluster><device id='A' kind='cpu' cpus='4095'/>"
                  "<device id='B' kind='cpu' cpus='0-4095'/></cluster>");

    ck_assert_int_eq(cluster->devices[0].threads, 1);
    ck_assert_int_eq(cluster->devices[0].cpus[0], 4095);
    ck_assert_int_eq(cluster->devices[1].threads, 4096);
    mo_cluster_free(cluster);
}
END_TEST

static const char *const no_lists[] = {
    "4096", "-1",    "1-",          "3-1", "1,",  ",1", "1,,2",
    "1,1",  "0-3,2", "99999999999", "0x1", "1 2", "a",  "1-2-3",
};

START_TEST(what_is_no_list_of_processors_is_refused)
{
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };
    char text[128];

    snprintf(text, sizeof text, "<cluster><device id='A' cpus='%s'/></cluster>",
             no_lists[_i]);
    ck_assert_int_eq(
        mo_cluster_read_memory("c.xml", text, strlen(text), &cluster, &err),
        MO_E_INPUT);
    ck_assert_msg(strstr(err.text, "processors") != NULL, "%s", err.text);
}
END_TEST

/* Its times will be measured ones. */
START_TEST(a_model_that_nobody_knows_has_no_numbers)
{
    mo_cluster *cluster =
        read_text("<cluster><device id='A' model='mi300x'/></cluster>");
    const mo_device *a = &cluster->devices[0];

    ck_assert_str_eq(a->model, "mi300x");
    ck_assert_ptr_null(a->known);
    ck_assert_double_eq(a->gflops, 0);
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
    cluster = read_text(text);
    ck_assert_int_eq(cluster->devices[0].memory_bytes, memories[_i].bytes);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(links_may_come_before_devices_and_are_sorted)
{
    mo_cluster *cluster =
        read_text("<cluster><link from='B' to='A' gbps='1'/>"
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
    mo_cluster *cluster = read_text(strange_but_fine[_i]);

    ck_assert_int_eq(cluster->n_devices, 1);
    ck_assert_str_eq(cluster->devices[0].id, "A");
    ck_assert_ptr_null(cluster->name);
    ck_assert_ptr_null(cluster->devices[0].host);
    mo_cluster_free(cluster);
}
END_TEST

#define TWO "<cluster>\n<device id='A'/>\n<device id='B'/>\n"

static const struct {
    const char *text, *said;
} refused[] = {
    { "<cluster/>", "c.xml: has no devices; a cluster needs at least one" },
    { "<graphml/>",
      "c.xml:1: is no cluster: it begins with <graphml>; give a file of "
      "<cluster> or an NCCL topology dump" },
    { "<cluster>\n<device/></cluster>",
      "c.xml:2: a <device> without an id; give it one" },
    { "<cluster><device id=''/></cluster>",
      "c.xml:1: a <device> without an id; give it one" },
    { "<cluster><device id='a b'/></cluster>",
      "c.xml:1: the id 'a b' of a device has a blank in it; leave it out" },
    { TWO "<device id='A'/></cluster>",
      "c.xml:4: device 'A' is there already, from line 2; give one of them "
      "another id" },
    { "<cluster>\n\n<device id='A' memroy_gib='3'/></cluster>",
      "c.xml:3: a <device> has no attribute 'memroy_gib'; it has id, model, "
      "kind, memory_bytes, memory_gib, reserve_bytes, gflops, "
      "memory_bandwidth_gbs, sms, clock_mhz, launch_us, rank, gpu, host, "
      "threads, cpus" },
    { TWO "<link from='A' to='B' gbps='1' latency='3'/></cluster>",
      "c.xml:4: a <link> has no attribute 'latency'; it has from, to, "
      "between, gbps, latency_us" },
    { "<cluster version='3'/>",
      "c.xml:1: a <cluster> has no attribute 'version'; it has name" },
    { "<cluster>\n<node id='A'/></cluster>",
      "c.xml:2: a <cluster> has no <node>; it has <device> and <link>" },
    { "<cluster>\n<device id='A'>\n<link/></device></cluster>",
      "c.xml:3: a <link> inside a <device> or <link>; nothing belongs "
      "there" },
    { "<cluster><device id='A' memory_bytes='1' memory_gib='1'/></cluster>",
      "c.xml:1: device 'A' has memory_bytes and memory_gib; keep one of "
      "them" },
    { "<cluster><device id='A' memory_bytes='9' reserve_bytes='10'/></cluster>",
      "c.xml:1: reserve_bytes of device 'A' is more than its memory; reserve "
      "less" },
    { "<cluster><device id='A' model='t4' reserve_bytes='17179869185'/>"
      "</cluster>",
      "c.xml:1: reserve_bytes of device 'A' is more than its memory; reserve "
      "less" },
    { "<cluster><device id='A' kind='tpu'/></cluster>",
      "c.xml:1: device 'A' is of kind 'tpu'; kinds are gpu and cpu" },
    { "<cluster><device id='A' kind='cpu' model='t4'/></cluster>",
      "c.xml:1: device 'A' is of kind cpu, but its model 't4' is a GPU; "
      "remove one of the two" },
    { TWO "<link from='A' to='X' gbps='1'/></cluster>",
      "c.xml:4: a link to device 'X', which does not exist; add the device "
      "or remove the link" },
    { TWO "<link from='A' to='A' gbps='1'/></cluster>",
      "c.xml:4: a link from 'A' to itself; what stays on a device needs no "
      "link, remove it" },
    { TWO "<link between='B B' gbps='1'/></cluster>",
      "c.xml:4: a link from 'B' to itself; what stays on a device needs no "
      "link, remove it" },
    { TWO "<link from='A' to='B' gbps='1'/>\n"
          "<link from='A' to='B' gbps='1'/></cluster>",
      "c.xml:5: the link from 'A' to 'B' is there already, from line 4; keep "
      "one of them" },
    { TWO "<link from='B' to='A' gbps='1'/>\n"
          "<link between='A B' gbps='1'/></cluster>",
      "c.xml:5: the link from 'B' to 'A' is there already, from line 4; keep "
      "one of them" },
    { TWO "<link from='A' to='B'/></cluster>",
      "c.xml:4: a <link> without gbps; say how many gigabits a second it "
      "carries" },
    { TWO "<link from='A' gbps='1'/></cluster>",
      "c.xml:4: a <link> without to; give from and to, or between" },
    { TWO "<link to='A' gbps='1'/></cluster>",
      "c.xml:4: a <link> without from; give from and to, or between" },
    { TWO "<link between='A B' to='A' gbps='1'/></cluster>",
      "c.xml:4: a <link> with between and from or to; between is both "
      "directions, from and to are one" },
    { TWO "<link between='A' gbps='1'/></cluster>",
      "c.xml:4: between 'A' of a <link> is not two devices; write their ids "
      "with a blank between them" },
    { TWO "<link between='A B C' gbps='1'/></cluster>",
      "c.xml:4: between 'A B C' of a <link> is not two devices; write their "
      "ids with a blank between them" },
    { "<cluster>\n<device id='A'>", "c.xml:2: the file ends inside element "
                                    "<device> of line 2; it is truncated or "
                                    "damaged, fetch or write it again" },
};

START_TEST(bad_files_are_refused_in_one_line)
{
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };
    char said[2048];
    mo_status status = mo_cluster_read_memory(
        "c.xml", refused[_i].text, strlen(refused[_i].text), &cluster, &err);

    ck_assert_int_ne(status, MO_OK);
    ck_assert_int_eq(status, err.status);
    ck_assert_ptr_null(cluster);
    ck_assert_str_eq(mo_error_format(&err, said, sizeof said),
                     refused[_i].said);
}
END_TEST

static const struct {
    const char *element, *attribute, *value, *wanted;
} values[] = {
    { "link", "gbps", "0", "a number greater than 0" },
    { "link", "gbps", "-1", "a number greater than 0" },
    { "link", "gbps", "-0.0", "a number greater than 0" },
    { "link", "gbps", "1e-400", "a number greater than 0" },
    { "link", "gbps", "NaN", "a number greater than 0" },
    { "link", "gbps", "inf", "a number greater than 0" },
    { "link", "gbps", "1e400", "a number greater than 0" },
    { "link", "gbps", "ten", "a number greater than 0" },
    { "link", "gbps", "", "a number greater than 0" },
    { "link", "gbps", "1,5", "a number greater than 0" },
    { "link", "latency_us", "-1", "microseconds from 0 to 1e8" },
    { "link", "latency_us", "1e9", "microseconds from 0 to 1e8" },
    { "link", "latency_us", "nan", "microseconds from 0 to 1e8" },
    { "device", "gflops", "0", "a number greater than 0" },
    { "device", "gflops", "-5", "a number greater than 0" },
    { "device", "memory_bandwidth_gbs", "0", "a number greater than 0" },
    { "device", "clock_mhz", "x", "a number greater than 0" },
    { "device", "launch_us", "-1", "a number that is not negative" },
    { "device", "sms", "0", "a whole number from 1 on" },
    { "device", "sms", "1.5", "a whole number from 1 on" },
    { "device", "sms", "2147483648", "a whole number from 1 on" },
    { "device", "rank", "-1", "a whole number from 0 on" },
    { "device", "gpu", "a", "a whole number from 0 on" },
    { "device", "memory_bytes", "-1", "a whole number of bytes" },
    { "device", "memory_bytes", "1.5", "a whole number of bytes" },
    { "device", "memory_bytes", "9223372036854775808",
      "a whole number of bytes" },
    { "device", "memory_bytes", "1e300", "a whole number of bytes" },
    { "device", "reserve_bytes", "-1", "a whole number of bytes" },
    { "device", "memory_gib", "-1", "a number of GiB that is not negative" },
    { "device", "memory_gib", "8589934592",
      "a number of GiB that is not negative" },
    { "device", "memory_gib", "1e308", "a number of GiB that is not negative" },
};

START_TEST(numbers_that_make_no_sense_are_refused)
{
    char text[512], wanted[512], said[2048];
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };

    snprintf(text, sizeof text, "<cluster>\n<%s %s='%s'/></cluster>",
             values[_i].element, values[_i].attribute, values[_i].value);
    snprintf(wanted, sizeof wanted, "c.xml:2: %s '%s' of a <%s> must be %s",
             values[_i].attribute, values[_i].value, values[_i].element,
             values[_i].wanted);
    ck_assert_int_eq(
        mo_cluster_read_memory("c.xml", text, strlen(text), &cluster, &err),
        MO_E_INPUT);
    ck_assert_ptr_null(cluster);
    ck_assert_str_eq(mo_error_format(&err, said, sizeof said), wanted);
}
END_TEST

/* A file of n devices in a ring. */
static char *ring(int n, size_t *size)
{
    mo_out *out;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "<cluster>");
    for (int k = 0; k < n; k++)
        mo_out_printf(out,
                      "<device id='d%d'/><link between='d%d d%d' gbps='1'/>", k,
                      k, (k + 1) % n);
    mo_out_text(out, "</cluster>");
    text = mo_out_take(out, size);
    mo_out_abandon(out);
    ck_assert_ptr_nonnull(text);
    return text;
}

START_TEST(more_devices_than_fit_are_refused)
{
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };
    size_t size;
    char *text = ring(MO_MAX_DEVICES, &size);

    ck_assert_int_eq(
        mo_cluster_read_memory("c.xml", text, size, &cluster, &err), MO_OK);
    ck_assert_int_eq(cluster->n_devices, MO_MAX_DEVICES);
    ck_assert_int_eq(cluster->n_links, 2 * MO_MAX_DEVICES);
    mo_cluster_free(cluster);
    free(text);

    text = ring(MO_MAX_DEVICES + 1, &size);
    ck_assert_int_eq(
        mo_cluster_read_memory("c.xml", text, size, &cluster, &err),
        MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "more than 1024 devices"));
    free(text);
}
END_TEST

static uint64_t digest_of(const char *text)
{
    mo_cluster *cluster = read_text(text);
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

START_TEST(the_digest_tells_contents_apart)
{
    ck_assert(digest_of(other[_i]) != digest_of(PLAIN));
}
END_TEST

/* Solutions that were found on other machines carry it. */
START_TEST(the_digest_is_the_same_everywhere)
{
    ck_assert_uint_eq(
        digest_of("<cluster><device id='A' gflops='1.5' memory_bytes='7'/>"
                  "<device id='H' kind='cpu' model='mine' sms='2'/>"
                  "<link between='A H' gbps='0.1' latency_us='2'/></cluster>"),
        0x2793bab690eda41eu);
}
END_TEST

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
    const char *text = mo_builtin_cluster_find(built_in[_i].name)->text;
    mo_cluster *cluster = read_text(text);

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

START_TEST(there_is_one_other_built_in_cluster)
{
    mo_cluster *cluster = read_text(mo_builtin_cluster_find("cpu")->text);
    int n = 0;

    ck_assert_int_eq(cluster->n_devices, 1);
    ck_assert(cluster->devices[0].is_cpu);
    mo_cluster_free(cluster);

    for (; mo_builtin_clusters[n].name; n++)
        ck_assert_ptr_nonnull(mo_builtin_clusters[n].help);
    ck_assert_int_eq(n, COUNT(built_in) + 1);
    ck_assert_ptr_null(mo_builtin_cluster_find("inter"));
}
END_TEST

/* Files of one device each, so that its id tells which was read. */
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

START_TEST(a_file_hides_a_built_in_cluster)
{
    mo_cluster *cluster;
    char *where;

    write_cluster("inter-server", "file");
    MUST(mo_cluster_choose("inter-server", NULL, &cluster, &where, &err));
    remove("inter-server");
    ck_assert_str_eq(cluster->devices[0].id, "file");
    ck_assert_str_eq(where, "inter-server");
    free(where);
    mo_cluster_free(cluster);
}
END_TEST

static const struct {
    const char *given, *graph, *said;
} dead_ends[] = {
    { "nowhere", NULL,
      "there is no cluster 'nowhere'; give a file or one of the built-in "
      "inter-server, intra-server, cpu" },
    { "sub/no.xml", NULL,
      "there is no cluster 'sub/no.xml'; give a file or one of the built-in "
      "inter-server, intra-server, cpu" },
    { "sub", NULL, "sub: is a directory; give a file in it" },
    { NULL, "broken.graphml",
      "broken.cluster.xml:1: the file ends inside element <cluster> of line "
      "1; it is truncated or damaged, fetch or write it again" },
};

START_TEST(what_was_asked_for_must_be_there)
{
    mo_cluster *cluster = NULL;
    char *where = NULL, said[2048];
    mo_error err = { 0 };

    set_variable(NULL);
    ck_assert_int_ne(mo_cluster_choose(dead_ends[_i].given, dead_ends[_i].graph,
                                       &cluster, &where, &err),
                     MO_OK);
    ck_assert_ptr_null(cluster);
    ck_assert_ptr_null(where);
    ck_assert_str_eq(mo_error_format(&err, said, sizeof said),
                     dead_ends[_i].said);
}
END_TEST

SUITE(cluster)
{
    tcase_add_unchecked_fixture(tests, make_files, scratch_leave);
    TEST(the_example_of_the_manual_is_read);
    TEST(attributes_win_over_the_table);
    TEST(as_many_threads_as_processors);
    EACH(what_is_no_list_of_processors_is_refused, COUNT(no_lists));
    TEST(a_model_that_nobody_knows_has_no_numbers);
    EACH(memory_is_what_is_left_of_it, COUNT(memories));
    TEST(links_may_come_before_devices_and_are_sorted);
    EACH(what_others_add_is_passed_over, COUNT(strange_but_fine));
    EACH(bad_files_are_refused_in_one_line, COUNT(refused));
    EACH(numbers_that_make_no_sense_are_refused, COUNT(values));
    TEST(more_devices_than_fit_are_refused);
    EACH(the_digest_is_of_content, COUNT(same));
    EACH(the_digest_tells_contents_apart, COUNT(other));
    TEST(the_digest_is_the_same_everywhere);
    EACH(the_built_in_clusters_are_the_papers, COUNT(built_in));
    TEST(there_is_one_other_built_in_cluster);
    EACH(the_nearest_cluster_is_taken, COUNT(choices));
    TEST(a_file_hides_a_built_in_cluster);
    EACH(what_was_asked_for_must_be_there, COUNT(dead_ends));
}
