/*
 * backend.h - how calls are done on a kind of device.
 *
 * A backend opens units (a device: some CPU threads, a GPU) and prepares calls
 * for them once: parses nothing, packs weights, chooses kernels.  Running a
 * prepared call allocates nothing.
 */
#ifndef MO_EXEC_BACKEND_BACKEND_H
#define MO_EXEC_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/dense.h"
#include "exec/op/call.h"

typedef struct mo_unit mo_unit;     /* a device, opened; each backend's own */
typedef struct mo_kernel mo_kernel; /* a call, prepared; each backend's own */

/* More threads than these are not started. */
enum { MO_UNIT_MOST_THREADS = 256 };

typedef struct mo_unit_options {
    int threads;     /* of a CPU device; 0: as many as it may use */
    const int *cpus; /* the processors they stay on, or NULL: anywhere */
    int n_cpus;
} mo_unit_options;

/* What a kernel is told about its operands when it is prepared. */
typedef struct mo_call_operand {
    mo_desc desc;
    const void *constant; /* its value where that never changes, or NULL; lives
                             as long as the kernel */
} mo_call_operand;

typedef struct mo_backend {
    const char *name, *help;

    mo_status (*open)(const mo_unit_options *options, mo_unit **unit,
                      mo_error *err);
    void (*close)(mo_unit *unit);

    /* Memory of the unit, aligned to 64 bytes at least, first touched by its
     * own threads. */
    mo_status (*alloc)(mo_unit *unit, size_t bytes, void **memory,
                       mo_error *err);
    void (*release)(mo_unit *unit, void *memory);

    /* in[i] and out[i] describe the call's operands i; the call itself must
     * live as long as the kernel.  *workspace: how many bytes it needs while it
     * runs, aligned to 64; workspaces of calls that do not run at the same time
     * may be the same. */
    mo_status (*prepare)(mo_unit *unit, const mo_call *call,
                         const mo_call_operand *in, const mo_desc *out,
                         mo_kernel **kernel, size_t *workspace, mo_error *err);
    void (*drop)(mo_unit *unit, mo_kernel *kernel);

    /* Pointers by operand.  What a kernel packed of a constant it does not read
     * again: that pointer may be NULL if consumed says so. */
    mo_status (*run)(mo_unit *unit, const mo_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err);
    bool (*consumed)(const mo_kernel *kernel, int in);
} mo_backend;

extern const mo_backend mo_backend_cpu;

/* Ends with NULL. */
extern const mo_backend *const mo_backends[];

#endif
