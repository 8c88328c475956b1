/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of exec/tensor/npy.h: any bytes give an error, or a tensor that is
 * written and read back with the same bytes. */
#include <assert.h>

#include "exec/tensor/npy.h"
#include "tests/fuzz/fuzz.h"

static void check_round_trip(const mo_tensor_dense *dense)
{
    mo_tensor_dense again = { 0 };
    mo_error err = { 0 };
    mo_out *out = NULL;
    size_t size, bytes = (size_t) mo_tensor_desc_bytes(&dense->desc);
    char *text;

    assert(mo_out_memory(&out, &err) == MO_OK);
    mo_npy_write_to(dense, out);
    text = mo_out_take(out, &size);
    assert(text);
    assert(mo_npy_read_memory("again", text, size, &again, &err) == MO_OK);
    assert(mo_tensor_desc_equal(&dense->desc, &again.desc));
    assert(bytes == 0 || memcmp(dense->data, again.data, bytes) == 0);
    mo_tensor_clear(&again);
    mo_out_abandon(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_tensor_dense dense = { 0 };
    mo_error err = { 0 };
    mo_status status = mo_npy_read_memory("fuzz.npy", data, size, &dense, &err);

    assert(status == MO_OK || err.text[0] != '\0');
    if (status == MO_OK) {
        assert((uint64_t) mo_tensor_desc_bytes(&dense.desc) <= size);
        check_round_trip(&dense);
    }
    mo_tensor_clear(&dense);
    return 0;
}
