/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_library.h - finds and loads one of NVIDIA's shared libraries and
 * resolves a table of its symbols.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_SHARED_LIBRARY_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_SHARED_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_cuda_symbol {
    const char *name;
    size_t offset; /* of the pointer in the struct that is filled */
} mo_cuda_symbol;

typedef struct mo_cuda_library {
    const char *title;    /* "NVRTC" */
    const char *variable; /* "MOIRAI_NVRTC" */
    const char *remedy;   /* advice of the error text */
    const char *const
        *names; /* file names, the preferred first; ends with NULL */
    const mo_cuda_symbol *symbols; /* ends with a NULL name */
    /* Pairs of a symbol and its replacement in older versions; ends with NULL.
     * NULL: none. */
    const char *const *older;
} mo_cuda_library;

/* Loads the library and stores the addresses of all symbols in the struct at
 * to. It stays loaded. MO_E_SUPPORT where none is found, or one that lacks a
 * symbol; the struct may be partly filled then. */
mo_status mo_cuda_library_load(const mo_cuda_library *library, void *to,
                               mo_error *err);

#endif
