/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of base/json.h and graph/op_attrs.h: any bytes are rejected, or every
 * result lies within them; both find the same attribute. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "graph/op_attrs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const char *text, const mo_attr_list *list, const char *key)
{
    int64_t values[4];
    size_t length = 0;
    const char *value = mo_json_find(text, key, &length);
    const mo_attr *attr = mo_attr_find(list, key);

    if (value && (value < text || value + length > text + strlen(text)))
        abort();
    if (!attr != !value ||
        (attr && attr->text != value + (attr->kind == MO_ATTR_STRING)))
        abort();
    if (!value && mo_attr_ints(list, key, values, 4) != -1)
        abort();
    if (!value && mo_attr_bool(list, key, false))
        abort();
    if (mo_attr_equals(list, key, "true") && !mo_attr_bool(list, key, false))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    mo_arena *arena = mo_arena_new();
    const mo_attr_list *list;

    if (text && arena) {
        if (size > 0)
            memcpy(text, data, size);
        text[size] = '\0';
        /* Of what is no object, results mean little but must be returned. */
        mo_json_is_object(text, size);
        list = mo_attr_list_parse(text, arena);
        if (list) {
            look_up(text, list, "k");
            look_up(text, list, "");
            look_up(text, list, "caf\xc3\xa9");
        }
    }
    mo_arena_free(arena);
    free(text);
    return 0;
}
