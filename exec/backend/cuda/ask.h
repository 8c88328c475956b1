/*
 * ask.h - what many kernels do alike: they ask for a function by the code they
 * put together, and have nothing else of their own.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ASK_H
#define MO_EXEC_BACKEND_CUDA_ASK_H

#include "exec/backend/cuda/code.h"
#include "exec/backend/cuda/cuda.h"
#include "exec/backend/cuda/module.h"

/* The code goes in any case. */
mo_status mo_cuda_ask_code(mo_unit *unit, mo_code *code, const char *name,
                           mo_cuda_function **function, mo_error *err);

/* How a kernel goes that is one piece of memory. */
void mo_cuda_drop_whole(mo_unit *unit, mo_kernel *kernel);

#endif
