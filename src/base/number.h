/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - conversion between numbers and text, independent of the locale
 * and without loss.
 *
 * Files are the same on every machine only if numbers are: a double is written
 * with the fewest digits that read back to the same bits, in the form of
 * ECMAScript and RFC 8785 (0.1, 42, 1e+21, 5e-7; -0 is 0), and reading rounds
 * correctly. Both have a fast path for the short decimals that files are full
 * of.
 */
#ifndef MO_BASE_NUMBER_H
#define MO_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MO_NUMBER_SIZE = 32
}; /* buffer size for any number written here, with 0 */

/* Write value to text, a buffer of MO_NUMBER_SIZE bytes (no terminating 0),
 * and return the number of bytes. The double must be finite. */
size_t mo_number_write_int(char *text, int64_t value);
size_t mo_number_write_double(char *text, double value);

typedef enum mo_number_fault {
    MO_NUMBER_OK = 0,
    MO_NUMBER_INVALID, /* not a decimal number (hexadecimal, empty, "12a") */
    MO_NUMBER_RANGE    /* a number, but infinite, NaN or out of range */
} mo_number_fault;

/* Parse all length bytes at text, white space around the number allowed. The
 * text need not end in 0. Return MO_NUMBER_OK, or a fault with *value
 * unchanged. */
mo_number_fault mo_number_read_int(const char *text, size_t length,
                                   int64_t *value);
mo_number_fault mo_number_read_double(const char *text, size_t length,
                                      double *value);

#endif
