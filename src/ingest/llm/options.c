/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { DEFAULT_CONTEXT = 4096, MAX_TOKENS = 1 << 30 };

/* Types that runtimes keep a cache in. */
static const char *const cache_types[] = { "f16",  "bf16", "f32",
                                           "q8_0", "q5_1", "q5_0",
                                           "q4_1", "q4_0", "iq4_nl" };

static mo_status read_tokens(const char *item, const char *text,
                             int64_t *tokens, mo_error *err)
{
    if (mo_number_read_int(text, strlen(text), tokens) != MO_NUMBER_OK ||
        *tokens < 1 || *tokens > MAX_TOKENS)
        return mo_fail(err, MO_E_USAGE,
                       "--value %.60s: is no number of tokens; give 1 to %d",
                       item, MAX_TOKENS);
    return MO_OK;
}

static mo_status read_cache(const char *item, const char *name,
                            const mo_llm_type **type, mo_error *err)
{
    for (size_t i = 0; i < sizeof cache_types / sizeof *cache_types; i++)
        if (strcmp(cache_types[i], name) == 0)
            *type = mo_llm_type_find(name);
    if (*type)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--value %.60s: is no type of a cache; give f32, f16, bf16, "
                   "q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl",
                   item);
}

static mo_status read_item(const char *item, mo_llm_options *o, mo_error *err)
{
    if (strncmp(item, "context=", 8) == 0)
        return read_tokens(item, item + 8, &o->context, err);
    if (strncmp(item, "prompt=", 7) == 0)
        return read_tokens(item, item + 7, &o->prompt, err);
    if (strncmp(item, "generate=", 9) == 0)
        return read_tokens(item, item + 9, &o->generate, err);
    if (strncmp(item, "cache=", 6) == 0)
        return read_cache(item, item + 6, &o->cache, err);
    o->whole_layers = strcmp(item, "layers=whole") == 0;
    if (o->whole_layers || strcmp(item, "layers=split") == 0)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--value %.60s: a language model has the values context, "
                   "prompt, generate, cache, and layers=whole or layers=split",
                   item);
}

/* Reads items that commas separate. */
static mo_status read_items(const char *items, mo_llm_options *o, mo_error *err)
{
    char item[256];
    mo_status status = MO_OK;

    while (status == MO_OK && *items) {
        size_t length = strcspn(items, ",");

        snprintf(item, sizeof item, "%.*s",
                 (int) (length < sizeof item ? length : sizeof item), items);
        status = read_item(item, o, err);
        items += length + (items[length] == ',');
    }
    return status;
}

mo_status mo_llm_options_read(const mo_read_options *read,
                              const mo_llm_model *model,
                              mo_llm_options *options, mo_error *err)
{
    mo_llm_options o = { 0 };
    mo_status status = MO_OK;

    if (read && read->shapes.count > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--shape %.60s: a language model has no inputs with "
                       "dynamic dimensions; give --value prompt=TOKENS",
                       read->shapes.items[0]);
    for (size_t i = 0; read && i < read->values.count && status == MO_OK; i++)
        status = read_items(read->values.items[i], &o, err);
    if (status != MO_OK)
        return status;
    if (!o.cache)
        o.cache = mo_llm_type_find("f16");
    if (o.context == 0) {
        o.context = model->context > 0 && model->context < DEFAULT_CONTEXT
                        ? model->context
                        : DEFAULT_CONTEXT;
        if (o.context < o.prompt + o.generate)
            o.context = o.prompt + o.generate;
    }
    if (o.generate > 0 && o.prompt == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--value generate=%" PRId64 " needs the length of the "
                       "prompt; give --value prompt=TOKENS",
                       o.generate);
    if (o.prompt > o.context - o.generate)
        return mo_fail(err, MO_E_USAGE,
                       "a prompt of %" PRId64 " tokens%s does not fit a "
                       "context of %" PRId64 "; give --value context=TOKENS",
                       o.prompt, o.generate > 0 ? " and its answer" : "",
                       o.context);
    *options = o;
    return MO_OK;
}
