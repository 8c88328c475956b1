/* SPDX-License-Identifier: Apache-2.0 */
/* tags: dist */
/* Fuzzer of base/json.h: any bytes are rejected, or every result lies within
 * them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_key(const char *text, const char *key)
{
    int64_t values[4];
    size_t length = 0;
    const char *value = mo_json_find(text, key, &length);

    if (value && (value < text || value + length > text + strlen(text)))
        abort();
    if (!value && mo_json_ints(text, key, values, 4) != -1)
        abort();
    if (!value && mo_json_bool(text, key, false))
        abort();
    if (mo_json_text_equals(text, key, "true") &&
        !mo_json_bool(text, key, false))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (mo_json_is_object(text, size)) {
        find_key(text, "k");
        find_key(text, "");
        find_key(text, "caf\xc3\xa9");
    }
    /* Without the check first, results mean little but must be returned. */
    mo_json_bool(text, "k", true);
    free(text);
    return 0;
}
