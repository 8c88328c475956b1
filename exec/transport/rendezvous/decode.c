/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/decode.h"

#include <string.h>

#include "base/utf8.h"

enum { LAST_PORT = 65535, CONTROL_HEAD_BYTES = 3 };

/* Clocks count from the start of a machine: 2^61 ns are 73 years. */
static const int64_t max_clock_ns = INT64_C(1) << 61;

static bool is_text(const char *field)
{
    return memchr(field, '\0', MO_RDV_ENDPOINT_NAME_SIZE) != NULL;
}

mo_status mo_rdv_decode_endpoint(const void *bytes, size_t n_bytes,
                                 mo_rdv_endpoint *endpoint, mo_error *err)
{
    mo_rdv_endpoint read;
    char host[sizeof read.host];

    if (n_bytes != sizeof read)
        return mo_fail(err, MO_E_IO, "an endpoint of %zu bytes", n_bytes);
    memcpy(&read, bytes, sizeof read);
    if (!is_text(read.host) || !is_text(read.machine) ||
        !is_text(read.network) || !is_text(read.memory))
        return mo_fail(err, MO_E_IO, "an endpoint with an endless name");
    if (read.n_addresses < 0 || read.n_addresses > MO_RDV_ENDPOINT_ADDRESSES)
        return mo_fail(err, MO_E_IO, "an endpoint of %d addresses",
                       (int) read.n_addresses);
    if (read.port < 1 || read.port > LAST_PORT)
        return mo_fail(err, MO_E_IO, "an endpoint at port %d", (int) read.port);
    /* The host is printed; the other names are compared. */
    mo_utf8_escape_controls(host, sizeof host, read.host);
    memset(read.host, 0, sizeof read.host);
    memcpy(read.host, host, strlen(host));
    *endpoint = read;
    return MO_OK;
}

mo_rdv_decoded mo_rdv_decode_control(const void *bytes, size_t n_bytes,
                                     mo_rdv_msg_kind *kind,
                                     char text[MO_RDV_MSG_TEXT_SIZE],
                                     size_t *n_used)
{
    const unsigned char *head = bytes;
    size_t length;

    if (n_bytes > 0 && !memchr("bfyel", head[0], 5))
        return MO_RDV_INVALID;
    if (n_bytes < CONTROL_HEAD_BYTES)
        return MO_RDV_INCOMPLETE;
    length = head[1] | (size_t) head[2] << 8;
    if (length >= MO_RDV_MSG_TEXT_SIZE)
        return MO_RDV_INVALID;
    if (n_bytes < CONTROL_HEAD_BYTES + length)
        return MO_RDV_INCOMPLETE;
    *kind = (mo_rdv_msg_kind) head[0];
    memcpy(text, head + CONTROL_HEAD_BYTES, length);
    text[length] = '\0';
    *n_used = CONTROL_HEAD_BYTES + length;
    return MO_RDV_DECODED;
}

mo_status mo_rdv_decode_loss(const char *text, int n_ranks, int *rank,
                             const char **reason, mo_error *err)
{
    size_t length = strspn(text, "0123456789");
    int64_t number = 0;

    for (size_t i = 0; i < length && number < n_ranks; i++)
        number = 10 * number + (text[i] - '0');
    if (length == 0 || text[length] != ' ' || number >= n_ranks)
        return mo_fail(err, MO_E_IO, "a loss of no rank");
    *rank = (int) number;
    *reason = text + length + 1;
    return MO_OK;
}

mo_status mo_rdv_decode_flag(uint8_t byte, bool *flag, mo_error *err)
{
    if (byte > 1)
        return mo_fail(err, MO_E_IO, "a flag of value %u", (unsigned) byte);
    *flag = byte == 1;
    return MO_OK;
}

mo_status mo_rdv_decode_clock(int64_t number, int64_t *clock_ns, mo_error *err)
{
    if (number < 0 || number > max_clock_ns)
        return mo_fail(err, MO_E_IO, "a clock of %lld ns", (long long) number);
    *clock_ns = number;
    return MO_OK;
}

mo_status mo_rdv_decode_rank(int64_t number, int n_ranks, int *rank,
                             mo_error *err)
{
    if (number != -1 && (number < 1 || number >= n_ranks))
        return mo_fail(err, MO_E_IO, "rank %lld, where there are %d",
                       (long long) number, n_ranks);
    *rank = (int) number;
    return MO_OK;
}
