/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/link_rows.h"

#include <math.h>
#include <stdlib.h>

/* Lower limit, faster than any memory. */
#define LEAST_NS_PER_BYTE 1e-4

/* Digits beyond a nanosecond, or a millionth, are noise. */
static double round_digits(double x, double digits)
{
    return round(x * digits) / digits;
}

/* Line through two points; with a negative intercept, through zero and the
 * second. */
static mo_profile_link line_between(double bytes_a, double ns_a, double bytes_b,
                                    double ns_b)
{
    double slope = (ns_b - ns_a) / (bytes_b - bytes_a);
    double begin;

    slope = fmax(slope, LEAST_NS_PER_BYTE);
    begin = ns_a - slope * bytes_a;
    if (begin < 0) {
        begin = 0;
        slope = fmax(ns_b / bytes_b, LEAST_NS_PER_BYTE);
    }
    return (mo_profile_link){ .latency_us = round_digits(begin / 1000, 1e3),
                              .gbps = round_digits(8 / slope, 1e6) };
}

/* Monotone: a larger message is never faster. */
static double time_at(const mo_measure_link_row *rows, int first, int i)
{
    int64_t ns = 0;

    for (int k = first; k <= i; k++)
        ns = rows[k].median_ns > ns ? rows[k].median_ns : ns;
    return (double) ns;
}

/* The first row of a pair starts at 0 bytes, the last has no upper end. */
static int add_pair(const mo_measure_link_row *rows, int first, int end,
                    const char *const *ids, mo_profile_link *links)
{
    int n = 0;

    for (int i = first; i + 1 < end || i == first; i++) {
        bool alone = i + 1 == end;
        mo_profile_link link =
            alone
                ? line_between(0, 0, (double) rows[i].bytes,
                               time_at(rows, first, i))
                : line_between((double) rows[i].bytes, time_at(rows, first, i),
                               (double) rows[i + 1].bytes,
                               time_at(rows, first, i + 1));

        link.from = ids[rows[i].from];
        link.to = ids[rows[i].to];
        link.from_bytes = i == first ? 0 : rows[i].bytes;
        link.path = rows[i].path;
        links[n++] = link;
    }
    return n;
}

mo_status mo_profiler_link_rows_make(const mo_measure_link_row *rows, int n,
                                     const char *const *ids,
                                     mo_profile_link **links, int *n_links,
                                     mo_error *err)
{
    mo_profile_link *made = calloc((size_t) n + 1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    *n_links = 0;
    for (int first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && rows[first].from == rows[end].from &&
               rows[first].to == rows[end].to)
            end++;
        *n_links += add_pair(rows, first, end, ids, made + *n_links);
    }
    *links = made;
    return MO_OK;
}

bool mo_profiler_link_rows_complete(const mo_profile *profile,
                                    const char *const *ids, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const mo_device from = { .id = ids[a] }, to = { .id = ids[b] };

            if (a != b &&
                (!profile || !mo_profile_find_link(profile, &from, &to, 0)))
                return false;
        }
    return true;
}
