/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multikey radix sort of strings, eight bytes at a time (MSD). Names of ops
 * share long prefixes, and comparing two of them from the start, twenty times
 * each, is what a comparison sort of a million names would cost. So they are
 * sorted by their first eight bytes as one number, then each group of equals
 * by the next eight, and so on.
 *
 *     layer1.0.conv        layer1.0 | .conv
 *     layer1.0.relu   ->   layer1.0 | .relu   a group, sorted by its rest
 *     layer2.0.conv        layer2.0           a group of one: done
 */
#include "graph/build/build_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEP = sizeof(uint64_t) };

struct item {
    uint64_t key; /* the eight bytes at the current depth */
    const char *text;
    int number;
};

/* Returns the next eight bytes as one big-endian number, which compares like
 * them; zeros after the end of the text. Reads nothing beyond the
 * terminator. */
static uint64_t key_at(const char *text)
{
    uint64_t key = 0;

    for (int i = 0; i < STEP; i++) {
        key = key << 8 | (unsigned char) *text;
        if (*text != '\0')
            text++;
    }
    return key;
}

static bool text_ends_in(uint64_t key)
{
    return (key & 0xFF) == 0;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = ((const struct item *) a)->key;
    uint64_t y = ((const struct item *) b)->key;

    return (x > y) - (x < y);
}

static bool are_sorted(const struct item *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (items[i - 1].key > items[i].key)
            return false;
    return true;
}

static size_t equal_keys(const struct item *items, size_t n)
{
    size_t count = 1;

    while (count < n && items[count].key == items[0].key)
        count++;
    return count;
}

/*
 * Sorts items that are equal in their first depth bytes. While all of them
 * stay equal the loop continues without a call, so the recursion depth is
 * bounded by the number of groups split off, not by the length of a text.
 */
static void sort_from(struct item *items, size_t n, size_t depth)
{
    do {
        for (size_t i = 0; i < n; i++)
            items[i].key = key_at(items[i].text + depth);
        depth += STEP;
    } while (equal_keys(items, n) == n && !text_ends_in(items[0].key));

    if (!are_sorted(items, n))
        qsort(items, n, sizeof *items, compare_keys);
    for (size_t i = 0, count; i < n; i += count) {
        count = equal_keys(&items[i], n - i);
        if (count > 1 && !text_ends_in(items[i].key))
            sort_from(&items[i], count, depth);
    }
}

mo_status mo_intern_rank_texts(const mo_intern *texts, int *by_rank,
                               mo_error *err)
{
    int n = mo_intern_count(texts);
    struct item *items;

    if (n == 0)
        return MO_OK;
    items = malloc((size_t) n * sizeof *items);
    if (!items)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        items[i] = (struct item){ 0, mo_intern_text(texts, i), i };
    sort_from(items, (size_t) n, 0);
    for (int i = 0; i < n; i++)
        by_rank[i] = items[i].number;
    free(items);
    return MO_OK;
}
