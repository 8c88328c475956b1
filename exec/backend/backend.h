/* SPDX-License-Identifier: Apache-2.0 */
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
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"

typedef struct mo_backend_unit
    mo_backend_unit; /* a device, opened; each backend's own */
typedef struct mo_backend_kernel
    mo_backend_kernel; /* a call, prepared; each backend's own */

/* More threads than these are not started. */
enum { MO_BACKEND_MAX_THREADS = 256 };

/* What products and convolutions of floats may be rounded to inside. */
typedef enum mo_backend_precision {
    MO_BACKEND_PRECISION_F32,
    MO_BACKEND_PRECISION_TF32, /* operands with 10 bits of mantissa, sums in
                                  floats */
    MO_BACKEND_PRECISIONS
} mo_backend_precision;

typedef struct mo_backend_unit_options {
    int threads;     /* of a CPU device; 0: as many as it may use */
    const int *cpus; /* the processors they stay on, or NULL: anywhere */
    int n_cpus;
    int gpu; /* of a GPU device: its number on this machine */
    /* The GPU is divided into n_parts of so many processors (SMs) each, and the
     * unit is one of them; n_parts 0: it is the whole GPU.  Units of one
     * process that name the same GPU give the same division. */
    const int *parts;
    int n_parts, part;
    mo_backend_precision precision;
    const char *cache; /* a folder for what is compiled and measured; NULL: the
                          user's own; "": none */
    bool measure;      /* choose by trying where several ways are known */
} mo_backend_unit_options;

/* What a kernel is told about its operands when it is prepared. */
typedef struct mo_backend_operand {
    mo_tensor_desc desc;
    const void *constant; /* its value where that never changes, or NULL; lives
                             as long as the kernel */
} mo_backend_operand;

/*
 * A value that goes from the memory of one unit to that of another without the
 * process touching it.  Between units of this process the backend copies it;
 * where the other end is elsewhere, a carrier takes it there.
 */
typedef struct mo_backend_carrier mo_backend_carrier;

typedef struct mo_backend_transfer {
    int transfer;     /* of the plan */
    int from, to;     /* its devices */
    const void *data; /* where it is here; NULL: it comes from elsewhere */
    void *target;     /* where it gets to here; NULL: it goes elsewhere */
    size_t bytes;
    mo_backend_unit *from_unit, *to_unit; /* NULL: elsewhere */
    int64_t hold_ns; /* it takes at least so long, as on a link that is no
                        faster; 0: as long as it takes */
    const mo_backend_carrier *carrier; /* where one end is elsewhere */
} mo_backend_transfer;

struct mo_backend_carrier {
    void *context;
    /* For the thread that drives the units of this process, when all of them
     * are open (by device of the plan; NULL: elsewhere) and before the first
     * run.  All processes of the plan come here. */
    mo_status (*ready)(const mo_backend_carrier *carrier,
                       mo_backend_unit *const *units, mo_error *err);
    /* Puts this process's end of it into a stream of the unit; in the order of
     * the plan. */
    mo_status (*carry)(const mo_backend_carrier *carrier,
                       const mo_backend_transfer *carry, void *stream,
                       mo_error *err);
    /* Called again and again while somebody waits for a unit: an error when the
     * other end is gone.  From then on the unit does not hang. */
    mo_status (*poll)(const mo_backend_carrier *carrier, mo_error *err);
    /* Why what it carries cannot be part of a program; NULL: it can. */
    const char *(*eager_because)(const mo_backend_carrier *carrier);
};

/* Where transfers of a unit queue up, beside its lanes: one at a time each
 * way. */
enum { MO_BACKEND_STREAM_OUT = 64, MO_BACKEND_STREAM_IN };

/* A call of a program, or a value that is carried: what runs, on what, and
 * after which others. */
typedef struct mo_backend_program_call {
    const mo_backend_kernel *kernel; /* NULL: carry says what */
    const void *const *in;
    void *const *out;
    void *workspace;
    int lane;         /* calls of one lane of a unit run one after the other */
    const int *waits; /* earlier calls of other lanes it must wait for */
    int n_waits;
    mo_backend_unit
        *unit; /* whose lane it is; NULL: of the unit that records */
    const mo_backend_transfer *carry;
} mo_backend_program_call;

typedef struct mo_backend_program mo_backend_program; /* each backend's own */

typedef struct mo_backend {
    const char *name, *help;
    /* It has memory of its own, which the process cannot read: put and get
     * move bytes, and kernels only begin when they are run. */
    bool apart;

    mo_status (*open)(const mo_backend_unit_options *options,
                      mo_backend_unit **unit, mo_error *err);
    void (*close)(mo_backend_unit *unit);

    /* Memory of the unit, aligned to 64 bytes at least, first touched by its
     * own threads. */
    mo_status (*alloc)(mo_backend_unit *unit, size_t bytes, void **memory,
                       mo_error *err);
    void (*release)(mo_backend_unit *unit, void *memory);

    /* in[i] and out[i] describe the call's operands i; the call itself must
     * live as long as the kernel.  *workspace: how many bytes it needs while it
     * runs, aligned to 64; workspaces of calls that do not run at the same time
     * may be the same. */
    mo_status (*prepare)(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         size_t *workspace, mo_error *err);
    void (*drop)(mo_backend_unit *unit, mo_backend_kernel *kernel);

    /* Pointers by operand.  What a kernel packed of a constant it does not read
     * again: that pointer may be NULL if consumed says so. */
    mo_status (*run)(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err);
    bool (*consumed)(const mo_backend_kernel *kernel, int in);

    /* The rest is NULL where there is no memory apart. */

    /* All kernels are prepared: compiles what is missing, all at once, and
     * chooses the ways that are fastest.  workspaces[i] is what kernel i needs
     * from now on.  No kernel runs before. */
    mo_status (*settle)(mo_backend_unit *unit,
                        mo_backend_kernel *const *kernels, int n,
                        size_t *workspaces, mo_error *err);

    /* To the unit's memory, after all that was run before; returns when from
     * may be written to again.  And back: returns when to is there. */
    mo_status (*put)(mo_backend_unit *unit, void *to, const void *from,
                     size_t bytes, mo_error *err);
    mo_status (*get)(mo_backend_unit *unit, void *to, const void *from,
                     size_t bytes, mo_error *err);
    /* Returns when all that was run is done. */
    mo_status (*wait)(mo_backend_unit *unit, mo_error *err);

    /* Memory of the process that put and get are fastest with. */
    mo_status (*alloc_near)(mo_backend_unit *unit, size_t bytes, void **memory,
                            mo_error *err);
    void (*release_near)(mo_backend_unit *unit, void *memory);

    /* Calls made into one thing that is begun at once; what they point to must
     * live as long as the program does.  They may be calls of several units of
     * this backend, all used by this thread: it is begun, and waited for, at
     * the one that records. */
    mo_status (*record)(mo_backend_unit *unit,
                        const mo_backend_program_call *calls, int n,
                        mo_backend_program **program, mo_error *err);
    mo_status (*replay)(mo_backend_unit *unit,
                        const mo_backend_program *program, mo_error *err);
    void (*forget)(mo_backend_unit *unit, mo_backend_program *program);

    /* Outside of programs, behind all that was run on its units in this
     * process, and before all that will be; returns when it is begun.  unit is
     * one of them. */
    mo_status (*carry)(mo_backend_unit *unit, const mo_backend_transfer *carry,
                       mo_error *err);
    /* Whether all that was run is done; for who must look elsewhere, too,
     * while it waits. */
    mo_status (*done)(mo_backend_unit *unit, bool *done, mo_error *err);

    /* The calls in order, more than once, each alone on the device: ns[i] is
     * how long one took there, with what it costs to look, *whole_ns how long
     * all took with nobody looking in between.  Values that it carries to units
     * of this process may be among them, if they have been carried before.
     * Inputs, and what else memory was planned for once, are lost. */
    mo_status (*time)(mo_backend_unit *unit,
                      const mo_backend_program_call *calls, int n, int64_t *ns,
                      int64_t *whole_ns, mo_error *err);

    /* What is free and what there is at all. */
    mo_status (*memory)(mo_backend_unit *unit, int64_t *free_bytes,
                        int64_t *total_bytes, mo_error *err);
    /* What its kernels have taken for themselves so far: packed weights. */
    int64_t (*kept)(const mo_backend_unit *unit);

    /* From now on this thread uses the unit, and the one before no more. */
    mo_status (*enter)(mo_backend_unit *unit, mo_error *err);

    /* How many of its kind there are, or why there is none to use; and what one
     * is called: "NVIDIA H200". */
    mo_status (*count)(int *n, mo_error *err);
    const char *(*say)(const mo_backend_unit *unit);
} mo_backend;

extern const mo_backend mo_backend_cpu;
#ifdef HAVE_CUDA
extern const mo_backend mo_backend_cuda;
#endif

/* Ends with NULL. */
extern const mo_backend *const mo_backend_table[];

/* Returns the backend of that name, or NULL. */
const mo_backend *mo_backend_by_name(const char *name);

#endif
