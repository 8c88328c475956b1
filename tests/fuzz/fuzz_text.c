/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of base/utf8.h and of the escapes of base/out.h: any bytes become a
 * visible text of one line, a valid JSON string, and XML without markup. */
#include <assert.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/out.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static void check_code_points(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t code = UINT32_MAX;
        size_t n = mo_utf8_decode(text + at, size - at, &code);
        char again[4];

        assert(n <= 4 && n <= size - at && (n > 0) == (code != UINT32_MAX));
        assert(n == 0 ||
               (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)));
        assert(n == 0 || (mo_utf8_encode(again, code) == n &&
                          memcmp(again, text + at, n) == 0));
        at += n > 0 ? n : 1;
    }
}

static void check_escape(const char *text, size_t size)
{
    char shown[256], again[256];

    assert(mo_utf8_escape_controls(shown, size, text) == shown);
    assert(strlen(shown) < size);
    for (const char *c = shown; *c; c++)
        assert((unsigned char) *c >= ' ' && *c != 127);
    assert(mo_utf8_columns(shown) >= 0);
    mo_utf8_escape_controls(again, sizeof again, shown);
    assert(strcmp(again, shown) == 0);
}

static void check_json(const char *text)
{
    mo_json_writer w = { 0 };
    mo_error err = { 0 };
    size_t size, length;
    char *made;

    assert(mo_out_memory(&w.out, &err) == MO_OK);
    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "k", text);
    mo_json_put_text(&w, text, "v");
    mo_json_end(&w);
    made = mo_out_take(w.out, &size);
    assert(made && mo_json_is_object(made, size));
    assert(mo_json_find(made, "k", &length));
    mo_out_abandon(w.out);
    free(made);
}

static void check_xml(const char *text)
{
    mo_error err = { 0 };
    mo_out *out = NULL;
    size_t size;
    char *made;

    assert(mo_out_memory(&out, &err) == MO_OK);
    mo_out_xml(out, text);
    made = mo_out_take(out, &size);
    assert(made && strlen(made) == size && !strpbrk(made, "<>\""));
    check_code_points(made, size);
    mo_out_abandon(out);
    free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    size_t room = 4 + (size_t) fuzz_below(&in, 250), length;
    char *text = fuzz_text(&in, '\0', &length);

    check_code_points(text, length);
    check_escape(text, room);
    check_json(text);
    check_xml(text);
    free(text);
    return 0;
}
