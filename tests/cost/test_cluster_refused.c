/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster.h: files that are refused. */
#include <config.h>

#include "cost/cluster.h"

#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "tests/support/suite.h"

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

#define TWO "<cluster>\n<device id='A'/>\n<device id='B'/>\n"

static const struct {
    const char *text, *message;
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
      "kind, memory_bytes, memory_gib, reserve_bytes, generation, gflops, "
      "tf32_gflops, f16_gflops, bf16_gflops, fp8_gflops, int8_gflops, "
      "fp4_gflops, "
      "memory_bandwidth_gbs, sms, clock_mhz, cache_mib, launch_us, "
      "overhead_us, copy_gbs, watts, process_nm, rank, gpu, host, "
      "threads, cpus" },
    { "<cluster><model gflops='1'/></cluster>",
      "c.xml:1: a <model> without a name; give it one" },
    { "<cluster><model name='T4' gflops='1'/></cluster>",
      "c.xml:1: model 'T4' is in the table of devices; give yours another "
      "name and title" },
    { "<cluster><model name='x' title='NVIDIA A100-SXM4-40GB'/></cluster>",
      "c.xml:1: model 'x' is in the table of devices; give yours another "
      "name and title" },
    { "<cluster><model name='my-card'/>\n<model name='My Card'/></cluster>",
      "c.xml:2: model 'My Card' is there already; keep one of them" },
    { "<cluster><device id='A' model='my-card'/>\n<model name='My Card' "
      "gflops='1'/></cluster>",
      "c.xml:2: model 'My Card' is behind device 'A', which has it; put the "
      "<model> first" },
    { "<cluster><model name='x' like='y'/></cluster>",
      "c.xml:1: model 'x' is like 'y', which is unknown; moirai-cluster(5) "
      "lists models" },
    { "<cluster><model name='x' generation='kepler'/></cluster>",
      "c.xml:1: device 'x' is of generation 'kepler'; generations are cpu, "
      "pascal, volta, turing, ampere, ada, hopper, blackwell, blackwell-rtx, "
      "cdna, rdna, xe, apple" },
    { "<models><model name='x'/></models>",
      "c.xml:1: is no cluster: it begins with <models>; give a file of "
      "<cluster> or an NCCL topology dump" },
    { "<cluster><device id='A' generation='kepler'/></cluster>",
      "c.xml:1: device 'A' is of generation 'kepler'; generations are cpu, "
      "pascal, volta, turing, ampere, ada, hopper, blackwell, blackwell-rtx, "
      "cdna, rdna, xe, apple" },
    { "<cluster><device id='A' kind='gpu' model='epyc-7763'/></cluster>",
      "c.xml:1: device 'A' is of kind gpu, but its model 'epyc-7763' is a CPU; "
      "remove one of the two" },
    { TWO "<link from='A' to='B' gbps='1' latency='3'/></cluster>",
      "c.xml:4: a <link> has no attribute 'latency'; it has from, to, "
      "between, kind, gbps, latency_us" },
    { TWO "<link between='A B' kind='pcie9'/></cluster>",
      "c.xml:4: a <link> of kind 'pcie9', which is unknown; "
      "moirai-cluster(5) lists them" },
    { "<cluster version='3'/>",
      "c.xml:1: a <cluster> has no attribute 'version'; it has name, "
      "host_request_us, host_transfer_us" },
    { "<cluster>\n<node id='A'/></cluster>",
      "c.xml:2: a <cluster> has no <node>; it has <model>, <device> and "
      "<link>" },
    { "<cluster>\n<device id='A'>\n<link/></device></cluster>",
      "c.xml:3: a <link> inside a <model>, <device> or <link>; nothing belongs "
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
    char message[2048];
    mo_status status = mo_cluster_read_memory(
        "c.xml", refused[_i].text, strlen(refused[_i].text), &cluster, &err);

    ck_assert_int_ne(status, MO_OK);
    ck_assert_int_eq(status, err.status);
    ck_assert_ptr_null(cluster);
    ck_assert_str_eq(mo_error_format(&err, message, sizeof message),
                     refused[_i].message);
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
    { "device", "memory_gib", "-1", "a number of GiB from 0 to below 2^33" },
    { "device", "memory_gib", "8589934592",
      "a number of GiB from 0 to below 2^33" },
    { "device", "memory_gib", "1e308", "a number of GiB from 0 to below 2^33" },
};

START_TEST(numbers_that_make_no_sense_are_refused)
{
    char text[512], wanted[512], message[2048];
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
    ck_assert_str_eq(mo_error_format(&err, message, sizeof message), wanted);
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

SUITE(cluster_refused)
{
    EACH(what_is_no_list_of_processors_is_refused, COUNT(no_lists));
    EACH(bad_files_are_refused_in_one_line, COUNT(refused));
    EACH(numbers_that_make_no_sense_are_refused, COUNT(values));
    TEST(more_devices_than_fit_are_refused);
}
