/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of messages of other ranks: every field out of its range is refused,
 * and random bytes never give a value out of range. */
#include <config.h>

#include "exec/transport/rendezvous/decode.h"

#include <math.h>

#include "exec/discover/discover_internal.h"
#include "exec/measure/host_load.h"
#include "exec/runtime/gather.h"
#include "exec/transport/tcp/tcp_internal.h"
#include "tests/support/suite.h"

static mo_rdv_endpoint endpoint_of(int n_addresses, int port)
{
    return (mo_rdv_endpoint){ .host = "tau",
                              .machine = "m",
                              .network = "n",
                              .memory = "p",
                              .n_addresses = n_addresses,
                              .port = port };
}

static const struct {
    int n_addresses, port;
    const char *error; /* NULL: valid */
} ranges[] = {
    { 0, 1, NULL },
    { 8, 65535, NULL },
    { 9, 80, "an endpoint of 9 addresses" },
    { 1 << 30, 80, "an endpoint of 1073741824 addresses" },
    { -1, 80, "an endpoint of -1 addresses" },
    { INT32_MIN, 80, "an endpoint of -2147483648 addresses" },
    { 1, 0, "an endpoint at port 0" },
    { 1, -1, "an endpoint at port -1" },
    { 1, 65536, "an endpoint at port 65536" },
};

START_TEST(an_endpoint_is_within_its_fields)
{
    mo_rdv_endpoint sent = endpoint_of(ranges[_i].n_addresses, ranges[_i].port);
    mo_rdv_endpoint got = { .port = 7 };
    mo_error why = { 0 };
    mo_status status = mo_rdv_decode_endpoint(&sent, sizeof sent, &got, &why);

    ck_assert_int_eq(status == MO_OK, ranges[_i].error == NULL);
    if (!ranges[_i].error) {
        ck_assert_mem_eq(&got, &sent, sizeof got);
        return;
    }
    ck_assert_str_eq(why.text, ranges[_i].error);
    ck_assert_int_eq(got.port, 7);
}
END_TEST

START_TEST(names_of_an_endpoint_end)
{
    mo_rdv_endpoint sent = endpoint_of(1, 80), got;
    char *const names[] = { sent.host, sent.machine, sent.network,
                            sent.memory };

    memset(names[_i], 'H', MO_RDV_ENDPOINT_NAME_SIZE);
    ck_assert_int_ne(mo_rdv_decode_endpoint(&sent, sizeof sent, &got, NULL),
                     MO_OK);
    names[_i][MO_RDV_ENDPOINT_NAME_SIZE - 1] = '\0';
    MUST(mo_rdv_decode_endpoint(&sent, sizeof sent, &got, &err));
    ck_assert_int_ne(mo_rdv_decode_endpoint(&sent, sizeof sent - 1, &got, NULL),
                     MO_OK);
}
END_TEST

/* Whatever is printed of it is one line, and no escape sequence. */
START_TEST(a_host_has_no_control_characters)
{
    mo_rdv_endpoint sent = endpoint_of(1, 80), got;

    for (int c = 1; c < 256; c++) {
        memset(sent.host, c, sizeof sent.host - 1);
        MUST(mo_rdv_decode_endpoint(&sent, sizeof sent, &got, &err));
        ck_assert_ptr_nonnull(memchr(got.host, '\0', sizeof got.host));
        for (const char *at = got.host; *at; at++)
            ck_assert_int_ge((unsigned char) *at, ' ');
    }
}
END_TEST

static const struct {
    const char *bytes;
    size_t n_bytes;
    mo_rdv_decoded decoded;
    const char *text;
} controls[] = {
    { "", 0, MO_RDV_INCOMPLETE, NULL },
    { "b", 1, MO_RDV_INCOMPLETE, NULL },
    { "b\0", 2, MO_RDV_INCOMPLETE, NULL },
    { "b\0\0", 3, MO_RDV_DECODED, "" },
    { "f\3\0why", 6, MO_RDV_DECODED, "why" },
    { "l\3\0001 x", 6, MO_RDV_DECODED, "1 x" },
    { "f\3\0wh", 5, MO_RDV_INCOMPLETE, NULL },
    { "f\3\0w\0y", 6, MO_RDV_DECODED, "w" },
    { "y\0\0e\0\0", 6, MO_RDV_DECODED, "" },
    { "x\0\0", 3, MO_RDV_INVALID, NULL },
    { "\0\0\0", 3, MO_RDV_INVALID, NULL },
    { "x", 1, MO_RDV_INVALID, NULL },
    { "f\377\377", 3, MO_RDV_INVALID, NULL },
    { "f\100\6", 3, MO_RDV_INVALID, NULL }, /* 1600 bytes and a zero */
    { "f\77\6", 3, MO_RDV_INCOMPLETE, NULL },
};

START_TEST(a_control_message_is_known_and_short)
{
    char text[MO_RDV_MSG_TEXT_SIZE] = "";
    mo_rdv_msg_kind kind;
    size_t n_used = 0;

    ck_assert_int_eq(mo_rdv_decode_control(controls[_i].bytes,
                                           controls[_i].n_bytes, &kind, text,
                                           &n_used),
                     controls[_i].decoded);
    if (!controls[_i].text)
        return;
    ck_assert_str_eq(text, controls[_i].text);
    ck_assert_uint_le(n_used, controls[_i].n_bytes);
}
END_TEST

static const struct {
    uint32_t kind;
    int32_t arg;
    int64_t bytes;
    const char *error; /* NULL: valid; there are 3 transfers */
} headers[] = {
    { 'd', 0, 0, NULL },
    { 'd', 2, INT64_MAX, NULL }, /* the plan has the size */
    { 'd', 3, 8, "a value that is not in the plan" },
    { 'd', -1, 8, "a value that is not in the plan" },
    { 'd', INT32_MIN, 8, "a value that is not in the plan" },
    { 'd', 0, -1, "a value that is not in the plan" },
    { 'r', 2, 0, NULL },
    { 'r', 3, 0, "what is not in the plan" },
    { 'r', 0, 1, "what is not in the plan" },
    { 'g', 0, 0, NULL },
    { 'g', 1, 0, NULL },
    { 'g', 2, 0, "a malformed vote" },
    { 'g', 1, INT64_C(1) << 62, "a malformed vote" },
    { 't', 0, 8, NULL },
    { 't', 0, 0, "a message of the wrong size" },
    { 't', 0, -1, "a message of the wrong size" },
    { 't', 1, 8, "a message of the wrong size" },
    { 0, 0, 0, "an unknown message" },
    { 'd' | 1u << 8, 0, 0, "an unknown message" },
    { UINT32_MAX, 0, 0, "an unknown message" },
};

START_TEST(a_header_is_of_a_known_kind)
{
    const mo_tcp_msg_header sent = { headers[_i].kind, headers[_i].arg,
                                     headers[_i].bytes };
    unsigned char bytes[sizeof sent];
    mo_tcp_msg_header got = { .kind = 7 };
    const char *error;

    memcpy(bytes, &sent, sizeof sent);
    error = mo_tcp_decode_header(bytes, 3, &got);
    if (headers[_i].error) {
        ck_assert_ptr_nonnull(error);
        ck_assert_str_eq(error, headers[_i].error);
        ck_assert_uint_eq(got.kind, 7);
        return;
    }
    ck_assert_ptr_null(error);
    ck_assert_mem_eq(&got, &sent, sizeof got);
}
END_TEST

START_TEST(numbers_are_in_their_ranges)
{
    static const int64_t clocks[] = { -1, INT64_MIN, INT64_MAX,
                                      (INT64_C(1) << 61) + 1 };
    static const int64_t ranks[] = { -2, 0, 4, INT64_C(1) << 32, INT64_MIN };
    int64_t clock = 0;
    bool flag = false;
    int rank = 0;

    for (int i = 0; i < COUNT(clocks); i++)
        ck_assert_int_ne(mo_rdv_decode_clock(clocks[i], &clock, NULL), MO_OK);
    MUST(mo_rdv_decode_clock(INT64_C(1) << 61, &clock, &err));
    ck_assert_int_eq(clock, INT64_C(1) << 61);
    for (int i = 0; i < COUNT(ranks); i++)
        ck_assert_int_ne(mo_rdv_decode_rank(ranks[i], 4, &rank, NULL), MO_OK);
    MUST(mo_rdv_decode_rank(3, 4, &rank, &err));
    ck_assert_int_eq(rank, 3);
    MUST(mo_rdv_decode_rank(-1, 4, &rank, &err));
    ck_assert_int_eq(rank, -1);
    for (unsigned byte = 2; byte < 256; byte++)
        ck_assert_int_ne(mo_rdv_decode_flag((uint8_t) byte, &flag, NULL),
                         MO_OK);
    MUST(mo_rdv_decode_flag(1, &flag, &err));
    ck_assert(flag);
}
END_TEST

START_TEST(times_of_devices_do_not_overflow)
{
    const int64_t year = INT64_C(31536000000000000);
    int64_t times[80];
    mo_run_record_header header = { 1, 2, 1 };

    for (int i = 0; i < COUNT(times); i++)
        times[i] = year;
    MUST(mo_run_decode_durations(times, 60, &err));
    ck_assert_int_ne(mo_run_decode_durations(times, 80, NULL), MO_OK);
    MUST(mo_run_decode_timestamps(times, 80, &err));
    times[1] = -1;
    ck_assert_int_ne(mo_run_decode_durations(times, 2, NULL), MO_OK);
    MUST(mo_run_decode_timestamps(times, 2, &err));
    times[1] = INT64_MIN;
    ck_assert_int_ne(mo_run_decode_timestamps(times, 2, NULL), MO_OK);
    MUST(mo_run_decode_record(&header, &err));
    header.timed = 2;
    ck_assert_int_ne(mo_run_decode_record(&header, NULL), MO_OK);
    header = (mo_run_record_header){ .allocated_bytes = -1 };
    ck_assert_int_ne(mo_run_decode_record(&header, NULL), MO_OK);
    header = (mo_run_record_header){ .workspace_bytes = -1 };
    ck_assert_int_ne(mo_run_decode_record(&header, NULL), MO_OK);
}
END_TEST

START_TEST(a_load_can_be_added_up)
{
    mo_measure_load load = { .processors = 8, .wall_ns = 1 };
    mo_measure_load loads[4096];

    MUST(mo_measure_decode_load(&load, &err));
    load.processors = -1;
    ck_assert_int_ne(mo_measure_decode_load(&load, NULL), MO_OK);
    load.processors = INT32_MAX;
    ck_assert_int_ne(mo_measure_decode_load(&load, NULL), MO_OK);
    load = (mo_measure_load){ .own_ns = INT64_MAX };
    ck_assert_int_ne(mo_measure_decode_load(&load, NULL), MO_OK);
    /* The largest of all ranks: without overflow. */
    for (int i = 0; i < COUNT(loads); i++)
        loads[i] = (mo_measure_load){ .processors = 1 << 18,
                                      .mask = (uint64_t) i,
                                      .wall_ns = 1,
                                      .own_ns = INT64_C(1) << 61,
                                      .busy_ns = INT64_C(1) << 61,
                                      .steal_ns = INT64_C(1) << 61 };
    loads[0].own_ns = 0;
    load = mo_measure_load_combine(loads, 4000);
    ck_assert_int_gt(load.busy_ns, 0);
}
END_TEST

static mo_discover_inventory inventory(void)
{
    return (mo_discover_inventory){ .version = MO_DISCOVER_INVENTORY_VERSION,
                                    .processors = 4,
                                    .n_gpus = 1 };
}

START_TEST(an_inventory_is_finite)
{
    static mo_discover_inventory i;

#define REFUSED(change)                                                        \
    do {                                                                       \
        i = inventory();                                                       \
        ck_assert(mo_discover_decode_inventory(&i));                           \
        change;                                                                \
        ck_assert_msg(!mo_discover_decode_inventory(&i), "%s", #change);       \
    } while (0)
    REFUSED(i.version++);
    REFUSED(i.n_gpus = MO_DISCOVER_MAX_GPUS + 1);
    REFUSED(i.n_gpus = -1);
    REFUSED(i.n_cpus = MO_DISCOVER_MAX_CPUS + 1);
    REFUSED(i.n_cpus = INT32_MIN);
    REFUSED(i.processors = 0);
    REFUSED(i.processors = INT32_MAX);
    REFUSED(i.cores = -1);
    REFUSED(i.memory_bytes = -1);
    REFUSED(i.clock_mhz = (double) NAN);
    REFUSED(i.flops_per_cycle = -1);
    REFUSED(i.network_gbps = (double) INFINITY);
    REFUSED(i.socket_gbps = (double) NAN);
    REFUSED(memset(i.host, 'x', sizeof i.host));
    REFUSED(memset(i.no_gpu, 'x', sizeof i.no_gpu));
    REFUSED(memset(i.gpus[0].name, 'x', sizeof i.gpus[0].name));
    REFUSED(i.gpus[0].n_nvlinks = MO_DISCOVER_MAX_NVLINKS + 1);
    REFUSED(i.gpus[0].ordinal = -1);
    REFUSED(i.gpus[0].memory_bytes = INT64_MIN);
    REFUSED(i.gpus[0].pci_gbps = (double) NAN);
    REFUSED(i.gpus[0].sms = -1);
#undef REFUSED
}
END_TEST

static const struct {
    const char *text;
    int rank; /* of 4; -1: refused */
    const char *reason;
} losses[] = {
    { "0 it is gone", 0, "it is gone" },
    { "3 ", 3, "" },
    { "4 none", -1, NULL },
    { "99999999999999999999 none", -1, NULL },
    { "-1 none", -1, NULL },
    { "2", -1, NULL },
    { " 2 none", -1, NULL },
    { "", -1, NULL },
};

START_TEST(a_loss_is_that_of_a_rank)
{
    const char *reason = NULL;
    int rank = -1;

    ck_assert_int_eq(
        mo_rdv_decode_loss(losses[_i].text, 4, &rank, &reason, NULL) == MO_OK,
        losses[_i].rank >= 0);
    ck_assert_int_eq(rank, losses[_i].rank);
    if (losses[_i].reason)
        ck_assert_str_eq(reason, losses[_i].reason);
}
END_TEST

START_TEST(random_bytes_give_nothing_out_of_range)
{
    unsigned char bytes[sizeof(mo_rdv_endpoint)];
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_tcp_msg_header header;
    mo_rdv_endpoint endpoint;
    mo_rdv_msg_kind kind;
    size_t n_used;

    srand(7);
    for (int round = how_many(20000, 1000); round > 0; round--) {
        size_t n = (size_t) rand() % (sizeof bytes + 1);

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char) (rand() % 5 ? rand() % 4 : rand());
        if (mo_rdv_decode_endpoint(bytes, sizeof bytes, &endpoint, NULL) ==
            MO_OK) {
            ck_assert_int_le(endpoint.n_addresses, MO_RDV_ENDPOINT_ADDRESSES);
            ck_assert_int_ge(endpoint.n_addresses, 0);
        }
        if (mo_rdv_decode_control(bytes, n, &kind, text, &n_used) ==
            MO_RDV_DECODED)
            ck_assert_uint_le(n_used, n);
        bytes[0] = (unsigned char) "drgt"[round % 4];
        if (!mo_tcp_decode_header(bytes, 5, &header)) {
            ck_assert_int_lt(header.arg, 5);
            ck_assert_int_ge(header.bytes, 0);
        }
    }
}
END_TEST

SUITE(decode)
{
    EACH(an_endpoint_is_within_its_fields, COUNT(ranges));
    EACH(names_of_an_endpoint_end, 4);
    TEST(a_host_has_no_control_characters);
    EACH(a_control_message_is_known_and_short, COUNT(controls));
    EACH(a_header_is_of_a_known_kind, COUNT(headers));
    TEST(numbers_are_in_their_ranges);
    EACH(a_loss_is_that_of_a_rank, COUNT(losses));
    TEST(times_of_devices_do_not_overflow);
    TEST(a_load_can_be_added_up);
    TEST(an_inventory_is_finite);
    TEST(random_bytes_give_nothing_out_of_range);
}
