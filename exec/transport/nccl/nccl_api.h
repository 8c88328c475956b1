/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_api.h - the functions of NCCL, loaded at run time: versions 2.18 and
 * later, from where exec/backend/cuda/driver/shared_library.h searches, or
 * from the file in MOIRAI_NCCL (empty: not used).
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_NCCL_API_H
#define MO_EXEC_TRANSPORT_NCCL_NCCL_API_H

#include <nccl.h>

#include "base/error.h"

#define MO_NCCL_FUNCTIONS(X)                                                   \
    X(ncclGetVersion)                                                          \
    X(ncclGetErrorString)                                                      \
    X(ncclGetLastError)                                                        \
    X(ncclGetUniqueId)                                                         \
    X(ncclCommInitRankConfig)                                                  \
    X(ncclCommGetAsyncError)                                                   \
    X(ncclCommFinalize)                                                        \
    X(ncclCommDestroy)                                                         \
    X(ncclCommAbort)                                                           \
    X(ncclSend)                                                                \
    X(ncclRecv)

/* Not in 2.18: NULL there, and not built with a header that old. */
#if NCCL_VERSION_CODE >= 21900
#define MO_NCCL_OPTIONAL_FUNCTIONS(X)                                          \
    X(ncclCommRegister)                                                        \
    X(ncclCommDeregister)
#else
#define MO_NCCL_OPTIONAL_FUNCTIONS(X)
#endif

#define MO_NCCL_MEMBER(name) __typeof__(&name) name;

typedef struct mo_nccl_api {
    MO_NCCL_FUNCTIONS(MO_NCCL_MEMBER)
    MO_NCCL_OPTIONAL_FUNCTIONS(MO_NCCL_MEMBER)
    int version; /* 22809 is 2.28.9 */
} mo_nccl_api;

/* Loads NCCL once per process; *api is static. The error names what is
 * missing. */
mo_status mo_nccl_api_get(const mo_nccl_api **api, mo_error *err);

/* Formats "2.28.9" into text and returns text. */
enum { MO_NCCL_VERSION_SIZE = 32 };
const char *mo_nccl_version_format(int version,
                                   char text[MO_NCCL_VERSION_SIZE]);

/* Returns MO_OK for success and in-progress; else an error with NCCL's text. */
mo_status mo_nccl_check(const mo_nccl_api *api, const char *what,
                        ncclResult_t result, mo_error *err);

#endif
