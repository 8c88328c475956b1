/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h - an unnamed temporary file for data that exceeds memory.
 *
 * It is created in TMPDIR, or /tmp, and disappears with the process, however
 * that ends.
 */
#ifndef MO_MODELS_WRITE_SPILL_H
#define MO_MODELS_WRITE_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_spill {
    int fd; /* -1: not open */
} mo_spill;

mo_status mo_spill_open(mo_spill *spill, mo_error *err);
mo_status mo_spill_write(mo_spill *spill, const void *data, size_t size,
                         uint64_t at, mo_error *err);
mo_status mo_spill_read(mo_spill *spill, void *data, size_t size, uint64_t at,
                        mo_error *err);
void mo_spill_close(mo_spill *spill);

#endif
