/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of driver/model_file.h: any file gives a provenance, or an error. */
#include <config.h>

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/model_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    mo_provenance origin = { 0 };
    mo_error err = { 0 };
    mo_status status;

    if (fd < 0)
        fd = memfd_create("fuzz.lp", MFD_CLOEXEC);
    assert(fd >= 0 && ftruncate(fd, 0) == 0);
    if (size > 0)
        assert(pwrite(fd, data, size, 0) == (ssize_t) size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    status = mo_model_file_provenance(path, &origin, &err);
    assert(status == MO_OK || err.text[0] != '\0');
    assert(status != MO_OK ||
           (origin.shapes.n >= 0 && origin.shapes.n <= MO_IDENTITY_SHAPES));
    assert(status != MO_OK || origin.unit_ns >= 0);
    return 0;
}
