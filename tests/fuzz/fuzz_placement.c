/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of solvers/answer/placement_list.h: any text gives a device for every
 * op, or an error with its cause. */
#include <assert.h>

#include "solvers/answer/placement_list.h"
#include "tests/fuzz/fuzz_instance.h"

/* Eight ops without edges on three devices. */
static fuzz_instance made;

static void free_instance(void)
{
    fuzz_instance_clear(&made);
}

static mo_instance *make_instance(void)
{
    static const uint8_t bytes[] = { FUZZ_OPS - 1, FUZZ_DEVICES - 1 };
    fuzz_input in = fuzz_input_of(bytes, sizeof bytes);

    if (made.x)
        return made.x;
    if (!fuzz_instance_make(&in, &made))
        abort();
    atexit(free_instance);
    return made.x;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mo_instance *x = make_instance();
    fuzz_input in = fuzz_input_of(data, size);
    int device[FUZZ_OPS] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    mo_error err = { 0 };
    char *text = fuzz_text(&in, '\0', NULL);
    mo_status status;

    mo_placement_list_sniff(text);
    status = mo_placement_list_read("fuzz", text, size, x, device, &err);
    assert(status == MO_OK || err.text[0] != '\0');
    for (int i = 0; status == MO_OK && i < x->n; i++)
        assert(device[i] >= 0 && device[i] < x->n_devices);
    free(text);
    return 0;
}
