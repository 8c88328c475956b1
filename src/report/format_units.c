/* SPDX-License-Identifier: Apache-2.0 */
#include "report/format_units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units, each a factor of step above the one before; ends with NULL. */
static const char *const byte_units[] = { "B",   "KiB", "MiB", "GiB",
                                          "TiB", "PiB", "EiB", NULL };
static const char *const flop_units[] = { "FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                          "TFLOP", "PFLOP", "EFLOP", NULL };
static const char *const time_units[] = { "us", "ms", "s", "ks", NULL };

static const char *scale_to_unit(double value, double step,
                                 const char *const *units, char *text)
{
    const char *const *unit = units;

    if (value < 0)
        return "unknown";
    while (value >= 999.5 && unit[1]) {
        value /= step;
        unit++;
    }
    if (value >= 1e6) /* beyond the largest unit */
        snprintf(text, MO_FORMAT_SIZE, "%.2e %s", value, *unit);
    else {
        /* The decimals for three significant digits. The bounds are where
         * rounding would add a digit. */
        int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

        snprintf(text, MO_FORMAT_SIZE, "%.*f %s", decimals, value, *unit);
    }
    return text;
}

/* Bytes and operations below the first step have no decimals. */
static const char *whole_or_scaled(double value, double step,
                                   const char *const *units, char *text)
{
    if (value < 0 || value >= 999.5)
        return scale_to_unit(value, step, units, text);
    snprintf(text, MO_FORMAT_SIZE, "%.0f %s", value, units[0]);
    return text;
}

const char *mo_format_bytes(double bytes, char text[MO_FORMAT_SIZE])
{
    return whole_or_scaled(bytes, 1024, byte_units, text);
}

const char *mo_format_flops(double flops, char text[MO_FORMAT_SIZE])
{
    return whole_or_scaled(flops, 1000, flop_units, text);
}

const char *mo_format_us(double us, char text[MO_FORMAT_SIZE])
{
    return scale_to_unit(us, 1000, time_units, text);
}

const mo_time_unit *mo_format_time_unit(int64_t ns)
{
    static const mo_time_unit units[] = { { "us", 1e3, 3 },
                                          { "ms", 1e6, 5 },
                                          { "s", 1e9, 5 } };
    int i = 0;

    while (i < 2 && llabs(ns) >= (int64_t) units[i + 1].ns)
        i++;
    return &units[i];
}

const char *mo_format_time(int64_t ns, char text[MO_FORMAT_SIZE])
{
    const mo_time_unit *unit = mo_format_time_unit(ns);
    size_t n;

    snprintf(text, MO_FORMAT_SIZE, "%.*f", unit->decimals,
             (double) ns / unit->ns);
    n = strlen(text);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    snprintf(text + n, MO_FORMAT_SIZE - n, " %s", unit->name);
    return text;
}

const char *mo_format_percent(double part, char text[MO_FORMAT_SIZE])
{
    double percent = 100 * part;

    if (percent > 0 && percent < 0.01)
        return "<0.01";
    snprintf(text, MO_FORMAT_SIZE, "%.2f", percent > 0 ? percent : 0);
    return text;
}
