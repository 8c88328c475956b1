/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/token.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/async_writer.h"
#include "base/atomic_file.h"
#include "base/out.h"

/* 6 bits in a character: the last one holds 4 of them. */
enum { RANDOM_BYTES = 32, N_CHARS = (8 * RANDOM_BYTES + 5) / 6 };

static void encode_base64url(const uint8_t bytes[RANDOM_BYTES],
                             char line[N_CHARS + 1])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0;
    int n_bits = 0, n = 0;

    for (int i = 0; i < RANDOM_BYTES; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (n_bits += 8; n_bits >= 6; n_bits -= 6)
            line[n++] = alphabet[bits >> (n_bits - 6) & 63];
    }
    line[n++] = alphabet[bits << (6 - n_bits) & 63];
    line[n] = '\n';
}

static mo_status print_line(const char line[N_CHARS + 1], mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return status;
    mo_out_bytes(out, line, N_CHARS + 1);
    return mo_out_commit(out, err);
}

/* Other ranks may have the token of a file that exists. */
static mo_status create_file(const char *path, const char line[N_CHARS + 1],
                             mo_error *err)
{
    mo_atomic_file *file;
    mo_status status = mo_atomic_file_create(path, 0600, &file, err);
    int failure;

    if (status != MO_OK)
        return status;
    failure = mo_write_all(mo_atomic_file_fd(file), line, N_CHARS + 1);
    if (!failure && fsync(mo_atomic_file_fd(file)) != 0)
        failure = errno;
    return mo_atomic_file_commit(file, failure, err);
}

mo_status mo_launch_token_write(const char *path, mo_error *err)
{
    uint8_t bytes[RANDOM_BYTES];
    char line[N_CHARS + 1];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
        return mo_fail_errno(err, NULL, "cannot draw random bytes");
    encode_base64url(bytes, line);
    return path && strcmp(path, "-") != 0 ? create_file(path, line, err)
                                          : print_line(line, err);
}
