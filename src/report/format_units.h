/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_units.h - amounts for people: digits and a unit; percentages.
 *
 * Binary multiples for memory (KiB, MiB), decimal ones for work and time.
 */
#ifndef MO_REPORT_FORMAT_UNITS_H
#define MO_REPORT_FORMAT_UNITS_H

#include <stdint.h>

enum { MO_FORMAT_SIZE = 32 }; /* buffer size for any text written here */

/* Write "97.5 MiB", "8.18 GFLOP" or "1.52 ms" into text and return it.
 * Negative values are MO_UNKNOWN: "unknown". */
const char *mo_format_bytes(double bytes, char text[MO_FORMAT_SIZE]);
const char *mo_format_flops(double flops, char text[MO_FORMAT_SIZE]);
const char *mo_format_us(double us, char text[MO_FORMAT_SIZE]);

/* A unit of times, with the decimals that keep a nanosecond or five digits. */
typedef struct mo_time_unit {
    const char *name; /* "us", "ms" or "s" */
    double ns;
    int decimals;
} mo_time_unit;

/* Returns the largest unit of which there is at least one. */
const mo_time_unit *mo_format_time_unit(int64_t ns);

/* Writes a time exactly enough to compare: "95.1 us", "1.27811 ms". */
const char *mo_format_time(int64_t ns, char text[MO_FORMAT_SIZE]);

/* Writes a fraction as percent, "5.81", and returns text. A value above 0 that
 * would round to 0 is "<0.01"; a negative one is 0. */
const char *mo_format_percent(double part, char text[MO_FORMAT_SIZE]);

#endif
