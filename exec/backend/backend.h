/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - hardware abstraction of the executor: a table of functions per
 * kind of device.
 *
 * A backend opens units (a device or a part of one: some CPU threads, a GPU, a
 * group of its SMs) and prepares calls for them once: it packs weights and
 * selects kernels. Running a prepared call allocates nothing.
 *
 * All functions that return mo_status fill *err on failure; outputs are valid
 * after MO_OK only. A unit is used by one thread at a time; bind_thread moves
 * it to another thread.
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
    mo_backend_unit; /* an opened device; defined by each backend */
typedef struct mo_backend_kernel
    mo_backend_kernel; /* a prepared call; defined by each backend */

/* Upper limit of the threads of a CPU unit. */
enum { MO_BACKEND_MAX_THREADS = 256 };

/* Precision that float products and convolutions may use internally. */
typedef enum mo_backend_precision {
    MO_BACKEND_PRECISION_F32,
    MO_BACKEND_PRECISION_TF32, /* operands with 10 bits of mantissa, float
                                  accumulators */
    MO_BACKEND_PRECISIONS
} mo_backend_precision;

typedef struct mo_backend_unit_options {
    int threads;     /* of a CPU device; 0: all that it may use */
    const int *cpus; /* processors they are pinned to; NULL: not pinned */
    int n_cpus;
    int gpu; /* of a GPU device: its index on this machine */
    /* The GPU is partitioned into n_parts groups of parts[i] SMs each, and the
     * unit is group part; n_parts 0: the whole GPU. All units of one process
     * on the same GPU pass the same partition. */
    const int *parts;
    int n_parts, part;
    mo_backend_precision precision;
    const char *cache; /* folder of the JIT and tuning caches; NULL: the user's
                          own; "": none */
    bool autotune;     /* measure where several algorithms exist */
    int n_slots; /* programs that may run at the same time (record); 0: one */
    bool sizes_only; /* of a CPU: kernels are prepared for the memory they need
                        and not run; no constant is packed */
} mo_backend_unit_options;

/* What prepare knows about an operand. */
typedef struct mo_backend_operand {
    mo_tensor_desc desc;
    const void *constant; /* its value if it never changes, or NULL; the caller
                             keeps the buffer as long as the kernel */
} mo_backend_operand;

/*
 * A transfer from the memory of one unit to that of another without a copy
 * through the process. Between units of this process the backend copies; if
 * the other end belongs to another process, a carrier (NCCL) does.
 */
typedef struct mo_backend_carrier mo_backend_carrier;

typedef struct mo_backend_transfer {
    int id;           /* index in the plan */
    int from, to;     /* devices of the plan */
    const void *data; /* source buffer here; NULL: received from elsewhere */
    void *target;     /* destination buffer here; NULL: sent elsewhere */
    size_t bytes;
    mo_backend_unit *from_unit, *to_unit; /* NULL: in another process */
    int64_t min_ns; /* link emulation: it takes at least so long; 0: no lower
                        limit */
    const mo_backend_carrier
        *carrier; /* set if one end is in another process */
} mo_backend_transfer;

struct mo_backend_carrier {
    void *context;
    /* Connects the processes; collective over all processes of the plan.
     * Called by the thread that drives the units of this process once all of
     * them are open (units by device of the plan; NULL: in another process)
     * and before the first run. */
    mo_status (*connect)(const mo_backend_carrier *carrier,
                         mo_backend_unit *const *units, mo_error *err);
    /* Enqueues this process's end of the transfer on a stream of the unit, in
     * the order of the plan. */
    mo_status (*enqueue)(const mo_backend_carrier *carrier,
                         const mo_backend_transfer *transfer, void *stream,
                         mo_error *err);
    /* Called repeatedly while a thread waits for a unit or a queue; from any
     * thread. Returns an error if the peer has failed; neither blocks from then
     * on. */
    mo_status (*poll)(const mo_backend_carrier *carrier, mo_error *err);
    /* Restarts its time limit, when a run begins; NULL member: it has none. */
    void (*restart)(const mo_backend_carrier *carrier);
    /* Returns the reason (static text) why its transfers cannot be part of a
     * recorded program; NULL if they can. */
    const char *(*eager_reason)(const mo_backend_carrier *carrier);
};

/* Streams of a unit for its transfers, beside those of its calls: one transfer
 * at a time in each direction. */
enum { MO_BACKEND_STREAM_OUT = 64, MO_BACKEND_STREAM_IN };

/* One node of a program: a call or a transfer, its operands and its
 * dependencies. */
typedef struct mo_backend_program_call {
    const mo_backend_kernel *kernel; /* NULL: the node is a transfer */
    const void *const *in;
    void *const *out;
    void *workspace;
    int stream;      /* calls on one stream of a unit run in order */
    const int *deps; /* indices of earlier calls on other streams that must
                         finish first */
    int n_deps;
    mo_backend_unit
        *unit; /* owner of the stream; NULL: the unit that records */
    const mo_backend_transfer *transfer;
} mo_backend_program_call;

typedef struct mo_backend_program
    mo_backend_program; /* recorded calls (a CUDA graph); defined by each
                           backend */

typedef struct mo_backend_queue
    mo_backend_queue; /* see queue_open; defined by each backend */

typedef struct mo_backend {
    const char *name, *help;
    /* Device memory is not readable by the process: upload and download copy,
     * and kernels are launched asynchronously. */
    bool separate_memory;

    mo_status (*open)(const mo_backend_unit_options *options,
                      mo_backend_unit **unit, mo_error *err);
    void (*close)(mo_backend_unit *unit);

    /* *memory: a buffer of the unit, aligned to 64 bytes at least, first
     * touched by its own threads. The caller frees it with release. */
    mo_status (*alloc)(mo_backend_unit *unit, size_t bytes, void **memory,
                       mo_error *err);
    void (*release)(mo_backend_unit *unit, void *memory);

    /* in[i] and out[i] describe the operands i of the call; the call itself
     * must live as long as the kernel, which the caller frees with free_kernel.
     * *workspace: bytes of scratch that a run needs, aligned to 64; calls that
     * never run at the same time may share a buffer. */
    mo_status (*prepare)(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         size_t *workspace, mo_error *err);
    void (*free_kernel)(mo_backend_unit *unit, mo_backend_kernel *kernel);

    /* in and out: buffers by operand. The pointer of a constant that the
     * kernel has packed may be NULL if consumed returns true for it. */
    mo_status (*run)(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err);
    bool (*consumed)(const mo_backend_kernel *kernel, int in);

    /* The functions below are NULL if the backend has no separate memory. */

    /* Called once after the last prepare and before the first run: compiles
     * missing kernels in parallel and selects the fastest algorithms.
     * workspaces[i] returns the scratch of kernel i that replaces the size
     * returned by prepare. */
    mo_status (*finalize)(mo_backend_unit *unit,
                          mo_backend_kernel *const *kernels, int n,
                          size_t *workspaces, mo_error *err);

    /* Copy to and from the unit's memory, ordered behind all earlier work of
     * the unit. upload returns when the caller may overwrite from, download
     * when to is complete. */
    mo_status (*upload)(mo_backend_unit *unit, void *to, const void *from,
                        size_t bytes, mo_error *err);
    mo_status (*download)(mo_backend_unit *unit, void *to, const void *from,
                          size_t bytes, mo_error *err);
    /* Returns when all work of the unit is complete. */
    mo_status (*wait)(mo_backend_unit *unit, mo_error *err);

    /* Page-locked host memory, with which upload and download are fastest. The
     * caller frees it with free_pinned. */
    mo_status (*alloc_pinned)(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err);
    void (*free_pinned)(mo_backend_unit *unit, void *memory);

    /* record makes calls into a program that replay launches as one; the
     * buffers that calls point to must live as long as the program, which the
     * caller frees with free_program. The calls may be of several units of this
     * backend, all used by this thread; the recording unit launches the
     * program and waits for it. */
    mo_status (*record)(mo_backend_unit *unit,
                        const mo_backend_program_call *calls, int n,
                        mo_backend_program **program, mo_error *err);
    mo_status (*replay)(mo_backend_unit *unit,
                        const mo_backend_program *program, mo_error *err);
    void (*free_program)(mo_backend_unit *unit, mo_backend_program *program);
    /* A program may have variants that compute the same, the faster of which is
     * to be found by replays that are done anyway. Called after a replay is
     * complete, with the time that it took, launch and wait included; with -1
     * before the first replay whose time matters: the faster one is kept.
     * calls: as recorded. A failure leaves the program as it is. NULL member:
     * there are no variants. */
    void (*tune_program)(mo_backend_unit *unit, mo_backend_program *program,
                         const mo_backend_program_call *calls, int n,
                         int64_t ns);

    /* Programs that are recorded after this belong to slot 0 to n_slots - 1 of
     * the unit's options: those of different slots may run at the same time,
     * where their operands and workspaces differ. The slot is 0 at first. */
    void (*use_slot)(mo_backend_unit *unit, int slot);

    /* A queue (stream) of copies and programs of the n units in order,
     * independent of all their other work; the caller closes it before the
     * units. The first of them has recorded the programs. Host memory is
     * pinned, and valid until queue_wait returns, which waits for all work of
     * the queue. From any thread, one at a time for each queue. NULL members:
     * the unit runs one program at a time. */
    mo_status (*queue_open)(mo_backend_unit *const *units, int n,
                            mo_backend_queue **queue, mo_error *err);
    void (*queue_close)(mo_backend_queue *queue);
    /* As record, for queue_replay. */
    mo_status (*queue_record)(mo_backend_unit *unit,
                              const mo_backend_program_call *calls, int n,
                              mo_backend_program **program, mo_error *err);
    mo_status (*queue_upload)(mo_backend_queue *queue, void *to,
                              const void *from, size_t bytes, mo_error *err);
    mo_status (*queue_download)(mo_backend_queue *queue, void *to,
                                const void *from, size_t bytes, mo_error *err);
    mo_status (*queue_replay)(mo_backend_queue *queue,
                              const mo_backend_program *program, mo_error *err);
    mo_status (*queue_wait)(mo_backend_queue *queue, mo_error *err);

    /* A transfer outside of programs, ordered behind all earlier and before
     * all later work of its units in this process; returns once it is
     * enqueued. unit is one of the two. */
    mo_status (*transfer)(mo_backend_unit *unit,
                          const mo_backend_transfer *transfer, mo_error *err);
    /* *done: whether all work of the unit is complete. Does not block: for a
     * thread that has to poll other events, too. */
    mo_status (*is_idle)(mo_backend_unit *unit, bool *done, mo_error *err);

    /* Profiles the calls: runs them in order, several times, each alone on the
     * device. ns[i]: duration of call i, measuring overhead included;
     * *whole_ns: duration of all without measuring in between. Transfers to
     * units of this process may be among them, if they have run before.
     * Overwrites inputs and every buffer that shares memory with others. */
    mo_status (*time_calls)(mo_backend_unit *unit,
                            const mo_backend_program_call *calls, int n,
                            int64_t *ns, int64_t *whole_ns, mo_error *err);

    /* Free and total device memory. */
    mo_status (*memory_info)(mo_backend_unit *unit, int64_t *free_bytes,
                             int64_t *total_bytes, mo_error *err);
    /* Returns the bytes that its kernels have allocated so far: packed
     * weights. With sizes_only: would have. */
    int64_t (*packed_bytes)(const mo_backend_unit *unit);
    /* Returns the sum of the run delays (exec/thread/run_delay.h) of its own
     * threads so far. From the thread that uses the unit, between calls. */
    int64_t (*run_delay_ns)(mo_backend_unit *unit);

    /* Makes the calling thread the user of the unit; the previous one must not
     * use it any more. */
    mo_status (*bind_thread)(mo_backend_unit *unit, mo_error *err);

    /* *n: number of devices of this kind; an error if none is usable. The
     * other returns the device's name, "NVIDIA H200"; owned by the unit. */
    mo_status (*count_devices)(int *n, mo_error *err);
    const char *(*device_name)(const mo_backend_unit *unit);
} mo_backend;

extern const mo_backend mo_backend_cpu;
#ifdef HAVE_CUDA
extern const mo_backend mo_backend_cuda;
#endif

/* All backends compiled in; ends with NULL. */
extern const mo_backend *const mo_backend_table[];

/* Returns the backend of that name (static), or NULL if there is none. */
const mo_backend *mo_backend_by_name(const char *name);

#endif
