/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - what the parts of the backend itself know of each other.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_UNIT_INTERNAL_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_UNIT_INTERNAL_H

#include "exec/backend/cuda/driver/cuda_unit.h"

mo_status mo_cuda_unit_open(const mo_backend_unit_options *options,
                            mo_backend_unit **unit, mo_error *err);
void mo_cuda_unit_close(mo_backend_unit *unit);

/* Makes its context that of the thread. */
mo_status mo_cuda_unit_make_current(mo_backend_unit *unit, mo_error *err);

/* Stream of a lane, or of a way of transfers, made when it is first wanted, in
 * the unit's context. */
mo_status mo_cuda_unit_stream(mo_backend_unit *unit, int lane, CUstream *stream,
                              mo_error *err);

/* As mo_cuda_alloc, for what the caller counts; it is given back by
 * cuMemFree. */
mo_status mo_cuda_alloc_untracked(mo_backend_unit *unit, size_t bytes,
                                  CUdeviceptr *memory, mo_error *err);
mo_status mo_cuda_copy_from_device(mo_backend_unit *unit, void *to,
                                   CUdeviceptr from, size_t bytes,
                                   mo_error *err);

/* Puts a kernel's work into a stream; an error says what kind of call it was.
 */
mo_status mo_cuda_kernel_enqueue(mo_backend_unit *unit,
                                 const mo_backend_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, CUstream stream,
                                 mo_error *err);

/* The backend's record, replay, forget and time. */
mo_status mo_cuda_graph_capture(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n,
                                mo_backend_program **program, mo_error *err);
mo_status mo_cuda_graph_launch(mo_backend_unit *unit,
                               const mo_backend_program *program,
                               mo_error *err);
void mo_cuda_graph_destroy(mo_backend_unit *unit, mo_backend_program *program);
mo_status mo_cuda_time_calls(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             int64_t *ns, int64_t *whole_ns, mo_error *err);

#endif
