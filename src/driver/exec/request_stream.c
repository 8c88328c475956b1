/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/request_files.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/out.h"
#include "base/stop.h"
#include "driver/exec/input_tensors.h"
#include "exec/tensor/npy.h"

enum { STOP_MS = 100, CHUNK = 65536, MAX_HEADER = 1 << 20 };

static const char in_name[] = "standard input";
static const char out_name[] = "standard output";

bool mo_exec_stream_is_stopped(const mo_exec_stream *s,
                               const atomic_bool *stopped)
{
    return atomic_load(stopped) ||
           (s->interrupt && atomic_load(s->interrupt) != 0);
}

bool mo_exec_stream_is_ready(const mo_exec_stream *s, int64_t deadline_ns,
                             const atomic_bool *stopped)
{
    struct pollfd ready = { .fd = s->fd, .events = POLLIN };

    while (!s->is_over && !mo_exec_stream_is_stopped(s, stopped)) {
        int64_t left_ns = mo_max_i64(deadline_ns - mo_stop_clock_ns(), 0);
        int64_t most_ns = STOP_MS * INT64_C(1000000);
        const struct timespec wait = { .tv_nsec = (long) mo_min_i64(
                                           left_ns, most_ns - 1) };
        int events = ppoll(&ready, 1, &wait, NULL);

        if (events > 0 || (events < 0 && errno != EINTR))
            return true;
        if (events == 0 && left_ns < most_ns)
            return false;
    }
    return true;
}

/* Reads size bytes; *n is less at the end of the stream, or when it was
 * stopped. */
static mo_status read_bytes(const mo_exec_stream *s, const atomic_bool *stopped,
                            void *to, size_t size, size_t *n, mo_error *err)
{
    struct pollfd ready = { .fd = s->fd, .events = POLLIN };

    *n = 0;
    while (*n < size && !mo_exec_stream_is_stopped(s, stopped)) {
        int events = poll(&ready, 1, STOP_MS);
        ssize_t got;

        if (events == 0 || (events < 0 && errno == EINTR))
            continue;
        if (events < 0)
            return mo_fail_errno(err, in_name, "cannot wait for it");
        got = read(s->fd, (char *) to + *n, size - *n);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return mo_fail_errno(err, in_name, "cannot read");
        if (got == 0)
            break;
        *n += (size_t) got;
    }
    return MO_OK;
}

static mo_status fail_short(mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, in_name, 0,
                      "ends within an array; was it cut?");
}

static mo_status skip_bytes(const mo_exec_stream *s, const atomic_bool *stopped,
                            size_t size, mo_error *err)
{
    char *buffer = malloc(CHUNK);
    mo_status status = buffer ? MO_OK : mo_fail_memory(err);
    size_t n = 0;

    for (size_t left = size; left > 0 && status == MO_OK; left -= n) {
        size_t piece = left < CHUNK ? left : CHUNK;

        status = read_bytes(s, stopped, buffer, piece, &n, err);
        if (status == MO_OK && n < piece)
            status = fail_short(err);
    }
    free(buffer);
    return status;
}

/* Reads a header into *header, which the caller frees. */
static mo_status read_header(const mo_exec_stream *s,
                             const atomic_bool *stopped, char **header,
                             size_t *size, bool *end, mo_error *err)
{
    unsigned char front[MO_NPY_FRONT_SIZE];
    size_t n;
    mo_status status = read_bytes(s, stopped, front, sizeof front, &n, err);

    if (status != MO_OK)
        return status;
    *end = n == 0;
    if (*end)
        return MO_OK;
    *size = n == sizeof front ? mo_npy_header_size(front) : 0;
    if (*size < sizeof front || *size > MAX_HEADER)
        return mo_fail_at(err, MO_E_SYNTAX, in_name, 0,
                          "is no stream of .npy arrays; write each with "
                          "numpy.save");
    *header = malloc(*size);
    if (!*header)
        return mo_fail_memory(err);
    memcpy(*header, front, sizeof front);
    status = read_bytes(s, stopped, *header + sizeof front,
                        *size - sizeof front, &n, err);
    return status == MO_OK && n < *size - sizeof front ? fail_short(err)
                                                       : status;
}

/* Reads the elements behind the header, and both as an array. */
static mo_status read_array(const mo_exec_stream *s, const atomic_bool *stopped,
                            char **header, size_t size, size_t bytes,
                            mo_tensor_dense *value, mo_error *err)
{
    char *all =
        bytes <= SIZE_MAX - size ? realloc(*header, size + bytes) : NULL;
    mo_status status;
    size_t n = 0;

    if (!all)
        return mo_fail_memory(err);
    *header = all;
    status = read_bytes(s, stopped, all + size, bytes, &n, err);
    if (status == MO_OK && n < bytes)
        status = fail_short(err);
    return status == MO_OK
               ? mo_npy_read_memory(in_name, all, size + bytes, value, err)
               : status;
}

mo_status mo_exec_stream_read(mo_exec_stream *s, mo_exec_stream_fit *fit,
                              void *context, const atomic_bool *stopped,
                              mo_tensor_dense *value, bool *end, mo_error *err)
{
    mo_tensor_desc desc = { 0 };
    const mo_plan_input *input = NULL;
    mo_error misfit = { 0 };
    char *header = NULL;
    size_t size = 0;
    mo_status status = MO_OK;

    *end = s->is_over;
    if (!*end)
        status = read_header(s, stopped, &header, &size, end, err);
    if (status == MO_OK && !*end) {
        status = mo_npy_parse_header(header, size, &desc, err);
        if (status != MO_OK)
            mo_error_set_location(err, in_name, 0);
    }
    if (status == MO_OK && !*end)
        input = fit(context, &desc, &misfit);
    if (status == MO_OK && input)
        status = read_array(s, stopped, &header, size,
                            (size_t) mo_tensor_desc_bytes(&desc), value, err);
    if (status == MO_OK && input)
        status = mo_exec_input_convert(input, value, err);
    if (status == MO_OK && misfit.status != MO_OK) {
        status =
            skip_bytes(s, stopped, (size_t) mo_tensor_desc_bytes(&desc), NULL);
        s->is_over = status != MO_OK;
        status = misfit.status;
        if (err)
            *err = misfit;
    } else
        s->is_over = *end || status != MO_OK;
    if (s->is_over && mo_exec_stream_is_stopped(s, stopped)) {
        *end = true;
        status = MO_OK;
    }
    free(header);
    return status;
}

mo_status mo_exec_stream_write(const mo_tensor_dense *outputs, int n,
                               mo_error *err)
{
    const mo_tensor_dense nothing = {
        .desc = { .elem = MO_ELEM_F32, .shape = { .rank = 1, .dims = { 0 } } }
    };
    mo_out *out = NULL;
    mo_status status = mo_out_memory(&out, err);
    const char *bytes = NULL;
    size_t size = 0;

    for (int i = 0; i < n && status == MO_OK; i++)
        mo_npy_write_to(outputs ? &outputs[i] : &nothing, out);
    if (status == MO_OK)
        status = mo_out_failure(out, err);
    if (status == MO_OK) {
        bytes = mo_out_borrow(out, &size);
        if (!bytes)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK &&
        (fwrite(bytes, 1, size, stdout) != size || fflush(stdout) != 0))
        status = mo_fail_errno(err, out_name, "cannot write");
    mo_out_abandon(out);
    return status;
}
