/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - one of NVIDIA's libraries, wherever it is.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_SHARED_LIBRARY_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_SHARED_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_cuda_symbol {
    const char *name;
    size_t offset; /* of its pointer in the struct that is filled */
} mo_cuda_symbol;

typedef struct mo_cuda_library {
    const char *title;        /* "NVRTC" */
    const char *variable;     /* "MOIRAI_NVRTC" */
    const char *remedy;       /* what to do where it is not */
    const char *const *names; /* of files, the best first; ends with NULL */
    const mo_cuda_symbol *symbols; /* ends with a NULL name */
    /* Pairs: a name, and what serves where that is not there; ends with NULL.
     * May be NULL. */
    const char *const *older;
} mo_cuda_library;

/* Loads it and fills in the pointers at to; it stays loaded.  MO_E_SUPPORT
 * where there is none, or one that lacks a symbol. */
mo_status mo_cuda_library_load(const mo_cuda_library *library, void *to,
                               mo_error *err);

#endif
