/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of the decoders of messages between ranks
 * (exec/transport/rendezvous/decode.h lists them): any bytes are refused, or
 * every field is in its range, texts end, and sums do not overflow.
 *
 * The first byte chooses the decoder, the rest is the message.
 */
#include <config.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#include "driver/exec/exchange_units.h"
#include "driver/exec/recover.h"
#include "exec/discover/discover_internal.h"
#include "exec/measure/host_load.h"
#include "exec/runtime/gather.h"
#include "exec/runtime/pipeline/pipeline_internal.h"
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/tcp/tcp_internal.h"
#include "tests/fuzz/fuzz.h"

enum { N_TRANSFERS = 5, N_RANKS = 7, MAX_TIMES = 64 };

static void decode_endpoint(fuzz_input *in)
{
    const size_t n = fuzz_left(in);
    mo_rdv_endpoint endpoint = { .port = 1 };
    mo_error err = { 0 };

    if (mo_rdv_decode_endpoint(in->at, n, &endpoint, &err) != MO_OK) {
        assert(err.text[0] != '\0');
        return;
    }
    assert(n == sizeof endpoint);
    assert(endpoint.port > 0 && endpoint.port <= 65535);
    assert(endpoint.n_addresses >= 0 &&
           endpoint.n_addresses <= MO_RDV_ENDPOINT_ADDRESSES);
    assert(memchr(endpoint.host, '\0', sizeof endpoint.host));
    assert(memchr(endpoint.machine, '\0', sizeof endpoint.machine));
    assert(memchr(endpoint.network, '\0', sizeof endpoint.network));
    assert(memchr(endpoint.memory, '\0', sizeof endpoint.memory));
    for (const char *c = endpoint.host; *c; c++)
        assert((unsigned char) *c >= ' ' && *c != 127);
    mo_rdv_endpoint_prefer_address(&endpoint, mo_rdv_address_loopback);
    assert(endpoint.n_addresses >= 1 &&
           endpoint.n_addresses <= MO_RDV_ENDPOINT_ADDRESSES);
}

/* A prefix of a message is incomplete, whatever its length. */
static void decode_control(fuzz_input *in)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    size_t n = fuzz_left(in), n_used = 0;

    if (mo_rdv_decode_control(in->at, n, &kind, text, &n_used) !=
        MO_RDV_DECODED)
        return;
    assert(n_used > 0 && n_used <= n && memchr(text, '\0', sizeof text));
    for (size_t cut = 0; cut < n_used; cut++)
        assert(mo_rdv_decode_control(in->at, cut, &kind, text, &n_used) ==
               MO_RDV_INCOMPLETE);
}

static void decode_numbers(fuzz_input *in)
{
    mo_error err = { 0 };
    int64_t clock_ns, other_ns;
    bool flag;
    int rank;

    if (mo_rdv_decode_clock(fuzz_int64(in), &clock_ns, &err) == MO_OK &&
        mo_rdv_decode_clock(fuzz_int64(in), &other_ns, &err) == MO_OK)
        assert(!__builtin_sub_overflow(clock_ns, other_ns, &clock_ns));
    if (mo_rdv_decode_rank(fuzz_int64(in), N_RANKS, &rank, &err) == MO_OK)
        assert(rank == -1 || (rank >= 1 && rank < N_RANKS));
    if (mo_rdv_decode_flag(fuzz_byte(in), &flag, &err) != MO_OK)
        assert(err.text[0] != '\0');
}

static void decode_loss(fuzz_input *in)
{
    char text[64] = "";
    const size_t n =
        fuzz_left(in) < sizeof text - 1 ? fuzz_left(in) : sizeof text - 1;
    const char *reason;
    mo_error err = { 0 };
    int rank;

    fuzz_bytes(in, text, n);
    if (mo_rdv_decode_loss(text, N_RANKS, &rank, &reason, &err) == MO_OK)
        assert(rank >= 0 && rank < N_RANKS && reason > text &&
               reason <= text + strlen(text));
    else
        assert(err.text[0] != '\0');
}

static void decode_placement(fuzz_input *in)
{
    static const bool is_lost[N_RANKS] = { [2] = true };
    int32_t sent[4];
    int device[4];
    mo_error err = { 0 };

    fuzz_bytes(in, sent, sizeof sent);
    if (mo_exec_decode_placement(sent, 4, N_RANKS, is_lost, device, &err) !=
        MO_OK)
        return;
    for (int i = 0; i < 4; i++)
        assert(device[i] >= 0 && device[i] < N_RANKS && device[i] != 2);
}

static void decode_header(fuzz_input *in)
{
    unsigned char bytes[sizeof(mo_tcp_msg_header)];
    mo_tcp_msg_header header = { 0 };
    const char *wrong;

    fuzz_bytes(in, bytes, sizeof bytes);
    wrong = mo_tcp_decode_header(bytes, N_TRANSFERS, &header);
    if (wrong) {
        assert(wrong[0] != '\0');
        return;
    }
    assert(header.bytes >= 0);
    assert(header.kind == MO_TCP_MSG_DATA ||
           header.kind == MO_TCP_MSG_CLEAR_TO_SEND ||
           header.kind == MO_TCP_MSG_BARRIER ||
           header.kind == MO_TCP_MSG_CONTROL);
    if (header.kind == MO_TCP_MSG_DATA ||
        header.kind == MO_TCP_MSG_CLEAR_TO_SEND)
        assert(header.arg >= 0 && header.arg < N_TRANSFERS);
}

/* Messages of a pipeline of these numbers, with a text without end. */
static void decode_requests(const int64_t times[MAX_TIMES])
{
    const mo_pipeline_start start = { .request = times[0], .phase = times[1] };
    mo_pipeline_done done = { .busy_ns = times[1],
                              .slot_bytes = times[2],
                              .shared_bytes = times[3],
                              .status = times[4] };
    mo_error err = { 0 };

    memset(done.text, 'x', sizeof done.text);
    if (mo_pipeline_decode_start(&start, &err) == MO_OK)
        assert(start.request >= -1 && start.phase >= 0);
    if (mo_pipeline_decode_done(&done, &err) == MO_OK)
        assert(done.busy_ns >= 0 && strlen(done.text) < sizeof done.text &&
               done.status >= MO_OK && done.status <= MO_E_INFEASIBLE);
}

static void decode_times(fuzz_input *in)
{
    mo_run_record_header header;
    int64_t times[MAX_TIMES] = { 0 }, sum = 0;
    size_t n = fuzz_left(in) / sizeof *times;
    mo_error err = { 0 };

    n = n < MAX_TIMES ? n : MAX_TIMES;
    for (size_t i = 0; i < n; i++)
        times[i] = fuzz_int64(in);
    if (mo_run_decode_durations(times, n, &err) == MO_OK)
        for (size_t i = 0; i < n; i++)
            assert(times[i] >= 0 &&
                   !__builtin_add_overflow(sum, times[i], &sum));
    if (mo_run_decode_timestamps(times, n, &err) == MO_OK)
        for (size_t i = 1; i < n; i++)
            assert(!__builtin_sub_overflow(times[i], times[i - 1], &sum));
    header = (mo_run_record_header){ n > 0 ? times[0] : 0, n > 1 ? times[1] : 0,
                                     n > 2 ? times[2] : 0 };
    if (mo_run_decode_record(&header, &err) == MO_OK)
        assert(header.workspace_bytes >= 0 && header.allocated_bytes >= 0 &&
               (header.timed == 0 || header.timed == 1));
    decode_requests(times);
}

static void decode_load(fuzz_input *in)
{
    mo_measure_load loads[4], all;
    mo_exec_fit sent, fit;
    mo_error err = { 0 };
    int n = 0;

    while (n < 4 && fuzz_left(in) > 0) {
        fuzz_bytes(in, &loads[n], sizeof loads[n]);
        if (mo_measure_decode_load(&loads[n], &err) != MO_OK)
            break;
        n++;
    }
    if (n > 0) {
        all = mo_measure_load_combine(loads, n);
        mo_measure_load_quiet(&all);
    }
    fuzz_bytes(in, &sent, sizeof sent);
    if (mo_exec_decode_fit(&sent, &fit, &err) == MO_OK)
        mo_exec_fits_combine(&fit, 1);
}

static void decode_inventory(fuzz_input *in)
{
    static mo_discover_inventory inventory;
    size_t at;

    memset(&inventory, 0, sizeof inventory);
    inventory.version = MO_DISCOVER_INVENTORY_VERSION;
    inventory.processors = 4;
    /* A few fields of a valid one are replaced: it is large. */
    while (fuzz_left(in) > 2) {
        at = (size_t) fuzz_below(in, 65536) % (sizeof inventory / 8);
        fuzz_bytes(in, (char *) &inventory + 8 * at, 8);
    }
    if (!mo_discover_decode_inventory(&inventory))
        return;
    assert(inventory.n_gpus >= 0 && inventory.n_gpus <= MO_DISCOVER_MAX_GPUS);
    assert(inventory.n_cpus >= 0 && inventory.n_cpus <= MO_DISCOVER_MAX_CPUS);
    assert(memchr(inventory.host, '\0', sizeof inventory.host));
    assert(isfinite(inventory.clock_mhz) && isfinite(inventory.network_gbps));
    for (int i = 0; i < inventory.n_gpus; i++)
        assert(memchr(inventory.gpus[i].name, '\0',
                      sizeof inventory.gpus[i].name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const decoders[])(
        fuzz_input *) = { decode_endpoint,  decode_control, decode_numbers,
                          decode_header,    decode_times,   decode_load,
                          decode_inventory, decode_loss,    decode_placement };
    fuzz_input in = fuzz_input_of(data, size);

    decoders[fuzz_below(&in, sizeof decoders / sizeof *decoders)](&in);
    return 0;
}
