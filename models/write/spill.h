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

/* The caller closes it.  Fails with MO_E_IO where no file can be created. */
mo_status mo_spill_open(mo_spill *spill, mo_error *err);
/* Write and read all size bytes at the offset; a short transfer is an error.
 * The caller owns the buffer data. */
mo_status mo_spill_write(mo_spill *spill, const void *data, size_t size,
                         uint64_t at, mo_error *err);
mo_status mo_spill_read(mo_spill *spill, void *data, size_t size, uint64_t at,
                        mo_error *err);
/* Returns the space to the file system; a second call does nothing. */
void mo_spill_close(mo_spill *spill);

#endif
