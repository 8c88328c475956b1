/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of policy files (solvers/search/rl/nn/params.h): any file is rejected
 * with a line that names the difference, or gives finite parameters. */
#include <config.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "solvers/search/rl/nn/params.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static const int about[] = { 3, 4 };
    char path[32];
    mo_rl_params params = { 0 };
    mo_error err = { 0 };
    mo_status status;

    if (fd < 0)
        fd = memfd_create("fuzz.policy", MFD_CLOEXEC);
    assert(fd >= 0 && ftruncate(fd, 0) == 0);
    if (size > 0)
        assert(pwrite(fd, data, size, 0) == (ssize_t) size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert(mo_rl_params_add(&params, "w", 2, 3, 1, 1) == 0);
    assert(mo_rl_params_add(&params, "b", 1, 2, 0, 1) == 1);
    status = mo_rl_params_read(&params, "fuzz", about, 2, path, &err);
    assert(status == MO_OK || err.text[0] != '\0');
    for (size_t i = 0; i < params.n_values; i++)
        assert(isfinite(params.values[i]));
    mo_rl_params_clear(&params);
    return 0;
}
