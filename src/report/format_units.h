/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - amounts as a person reads them: three digits and a unit; shares.
 *
 * Binary multiples for memory (KiB, MiB), decimal ones for work and time.
 */
#ifndef MO_REPORT_FORMAT_UNITS_H
#define MO_REPORT_FORMAT_UNITS_H

enum { MO_FORMAT_SIZE = 32 }; /* room for any text written here */

/* Write "97.5 MiB", "8.18 GFLOP" or "1.52 ms" into text and return it.  What
 * is negative is MO_UNKNOWN: "unknown". */
const char *mo_format_bytes(double bytes, char text[MO_FORMAT_SIZE]);
const char *mo_format_flops(double flops, char text[MO_FORMAT_SIZE]);
const char *mo_format_us(double us, char text[MO_FORMAT_SIZE]);

/* Parts of 1 as "5.81", in hundredths.  What is above 0 never reads as if it
 * were 0, but "<0.01"; what is below it does. */
const char *mo_format_percent(double part, char text[MO_FORMAT_SIZE]);

#endif
