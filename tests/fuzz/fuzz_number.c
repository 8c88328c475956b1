/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of base/number.h: an accepted number equals the result of strtod, and
 * its written form reads back to the same bits. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void write_and_read(double value)
{
    char text[MO_NUMBER_SIZE];
    size_t n = mo_number_write_double(text, value);
    double back;

    if (n >= sizeof text || mo_number_read_double(text, n, &back) ||
        !same_bits(back, value == 0 ? 0.0 : value))
        abort();
}

static void check_double(const char *text, size_t size)
{
    double value = 0;

    switch (mo_number_read_double(text, size, &value)) {
    case MO_NUMBER_OK:
        if (!same_bits(value, strtod(text, NULL)))
            abort();
        write_and_read(value);
        break;
    case MO_NUMBER_RANGE:
        if (isfinite(strtod(text, NULL)))
            abort();
        break;
    case MO_NUMBER_INVALID:
        break;
    }
}

static void check_int(const char *text, size_t size)
{
    char written[MO_NUMBER_SIZE];
    int64_t value = 0, back = 1;
    size_t n;

    if (mo_number_read_int(text, size, &value) != MO_NUMBER_OK)
        return;
    errno = 0;
    if (strtoll(text, NULL, 10) != value || errno)
        abort();
    n = mo_number_write_int(written, value);
    if (n >= sizeof written || mo_number_read_int(written, n, &back) ||
        back != value)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    double value;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_double(text, size);
    check_int(text, size);
    if (size >= sizeof value) {
        memcpy(&value, data, sizeof value);
        if (isfinite(value))
            write_and_read(value);
    }
    free(text);
    return 0;
}
