/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/place/place_lengths.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/number.h"

enum {
    DEFAULT_PROMPT = 512,
    DEFAULT_GENERATE = 128,
    DEFAULT_CONTEXT = 4096,
    VALUE_SIZE = 64
};

static mo_status read_length(const char *item, const char *text, int64_t *value,
                             mo_error *err)
{
    if (mo_number_read_int(text, strlen(text), value) == MO_NUMBER_OK &&
        *value >= 1 && *value <= 1 << 30)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE, "--value %.60s: is no number of tokens",
                   item);
}

/* Reads one of the values; others are those of the reader. */
static mo_status read_value(mo_place_lengths *lengths, const char *item,
                            mo_error *err)
{
    if (strncmp(item, "prompt=", 7) == 0)
        return read_length(item, item + 7, &lengths->prompt, err);
    if (strncmp(item, "generate=", 9) == 0)
        return read_length(item, item + 9, &lengths->generate, err);
    if (strncmp(item, "context=", 8) == 0)
        return read_length(item, item + 8, &lengths->context, err);
    if (strncmp(item, "cache=", 6) == 0)
        snprintf(lengths->cache, sizeof lengths->cache, "%s", item + 6);
    else if (strncmp(item, "layers=", 7) != 0)
        return mo_fail(err, MO_E_USAGE,
                       "--value %.60s: with --for there are prompt, generate, "
                       "context and cache",
                       item);
    return MO_OK;
}

/* Commas separate values. */
static mo_status read_values(mo_place_lengths *lengths, const char *items,
                             mo_error *err)
{
    mo_status status = MO_OK;

    while (status == MO_OK && *items) {
        char item[VALUE_SIZE];
        size_t length = strcspn(items, ",");

        snprintf(item, sizeof item, "%.*s",
                 (int) mo_min_size(length, sizeof item), items);
        status = read_value(lengths, item, err);
        items += length + (items[length] == ',');
    }
    return status;
}

mo_status mo_place_lengths_read(const mo_option_list *values,
                                mo_place_lengths *lengths, mo_error *err)
{
    mo_status status = MO_OK;

    *lengths = (mo_place_lengths){ .prompt = DEFAULT_PROMPT };
    lengths->generate = DEFAULT_GENERATE;
    snprintf(lengths->cache, sizeof lengths->cache, "f16");
    for (size_t i = 0; i < values->count && status == MO_OK; i++)
        status = read_values(lengths, values->items[i], err);
    lengths->has_context = lengths->context > 0;
    if (status == MO_OK && lengths->context == 0)
        lengths->context =
            mo_max_i64(DEFAULT_CONTEXT, lengths->prompt + lengths->generate);
    if (status == MO_OK &&
        lengths->context < lengths->prompt + lengths->generate)
        status = mo_fail(err, MO_E_USAGE,
                         "a prompt of %" PRId64 " tokens and %" PRId64
                         " more do not fit a context of %" PRId64
                         "; give --context TOKENS",
                         lengths->prompt, lengths->generate, lengths->context);
    return status;
}
