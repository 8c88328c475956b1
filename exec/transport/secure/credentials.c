/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/secure/credentials.h"

#include <sys/random.h>

mo_status mo_secure_random(void *bytes, size_t n_bytes, mo_error *err)
{
    if (getrandom(bytes, n_bytes, 0) == (ssize_t) n_bytes)
        return MO_OK;
    return mo_fail_errno(err, NULL, "draw a number at random");
}
