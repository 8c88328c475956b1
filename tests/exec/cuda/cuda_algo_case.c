/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/cuda/cuda_algo_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/algo/pack_weights.h"
#include "exec/backend/cuda/algo/algo.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

static void set_standin(const char *variable, const char *file)
{
    setenv(variable, file, 0);
}

bool cuda_is_real(void)
{
    return getenv("MOIRAI_TEST_GPU") != NULL;
}

bool cuda_is_fast(void)
{
    return cuda_is_real() && !is_watched();
}

bool cuda_is_there(void)
{
    const mo_cuda_api *api;
    mo_error err = { 0 };

    if (!cuda_is_real()) {
        set_standin("MOIRAI_CUDA", "tests/standin/standin_cuda.so");
        set_standin("MOIRAI_NVRTC", "tests/standin/standin_cuda.so");
        set_standin("MOIRAI_CUBLASLT", "tests/standin/standin_cublaslt.so");
        set_standin("MOIRAI_CUDNN", "tests/standin/standin_cudnn.so");
    }
    if (mo_cuda_api_get(&api, &err) == MO_OK)
        return true;
    printf("%s\n", err.text);
    return false;
}

/* On a GPU with measure, so that all algorithms are found. */
static mo_backend_unit *gpu(mo_backend_precision precision)
{
    mo_backend_unit *unit = tested_unit(&mo_backend_cuda, precision);

    unit->options.autotune = unit->options.autotune || cuda_is_real();
    return unit;
}

bool cuda_has_blas(void)
{
    return mo_cuda_has_cublaslt();
}

bool cuda_has_dnn(void)
{
    return mo_cuda_has_cudnn();
}

static void run_by_cpu(call_case *c)
{
    const mo_backend_unit_options options = { .threads = 1 };
    mo_backend_unit *unit = NULL;

    MUST(mo_backend_cpu.open(&options, &unit, &err));
    case_run_on(c, &mo_backend_cpu, unit);
    mo_backend_cpu.close(unit);
}

/* Buffers of a case on the device */

typedef struct case_buffers {
    mo_backend_unit *unit;
    const call_case *c;
    mo_backend_operand operands[CASE_OPERANDS];
    mo_tensor_desc result;
    mo_cuda_algo_problem problem;
    const void *in[CASE_OPERANDS];
    void *out;
    double allowed;
    int tried;
} case_buffers;

static void *put(mo_backend_unit *unit, const void *data, size_t bytes)
{
    void *memory = NULL;

    MUST(mo_backend_cuda.alloc(unit, bytes + 1, &memory, &err));
    MUST(mo_backend_cuda.upload(unit, memory, data, bytes, &err));
    return memory;
}

static size_t bytes_of(const mo_tensor_dense *tensor)
{
    return (size_t) mo_tensor_desc_bytes(&tensor->desc);
}

static void open_buffers(case_buffers *s)
{
    const call_case *c = s->c;

    for (int i = 0; i < c->call.n_in; i++) {
        bool constant = c->constant >> i & 1u;

        s->operands[i] =
            (mo_backend_operand){ c->in[i].desc,
                                  constant ? c->in[i].data : NULL };
        s->in[i] = put(s->unit, c->in[i].data, bytes_of(&c->in[i]));
    }
    s->result = c->out[0].desc;
    s->out = put(s->unit, c->out[0].data, bytes_of(&c->out[0]));
    s->problem = (mo_cuda_algo_problem){ .call = &c->call,
                                         .in = s->operands,
                                         .out = &s->result };
    MUST(mo_cuda_pack_weights(s->unit, &s->problem, &err));
}

static void close_buffers(case_buffers *s)
{
    for (int i = 0; i < s->c->call.n_in; i++)
        mo_backend_cuda.release(s->unit, (void *) (uintptr_t) s->in[i]);
    mo_backend_cuda.release(s->unit, s->out);
    mo_cuda_packed_weights_free(s->unit, &s->problem);
}

/* Runs the algorithm twice; returns false where it does not support the
 * case. */
static bool run_algo(case_buffers *s, const mo_cuda_algo *algo,
                     mo_tensor_dense *got)
{
    void *workspace = NULL, *const out[] = { s->out };
    size_t bytes = bytes_of(got);
    mo_status status;
    mo_error said = { 0 };

    memset(got->data, 0xc7, bytes);
    MUST(mo_backend_cuda.upload(s->unit, s->out, got->data, bytes, &err));
    if (algo->workspace)
        MUST(mo_backend_cuda.alloc(s->unit, algo->workspace, &workspace, &err));
    status = algo->kind->enqueue(s->unit, algo, s->in, out, workspace,
                                 s->unit->stream, &said);
    if (status == MO_OK)
        status = mo_backend_cuda.wait(s->unit, &said);
    if (workspace)
        mo_backend_cuda.release(s->unit, workspace);
    if (status == MO_E_SUPPORT)
        return false;
    ck_assert_msg(status == MO_OK, "%s: %s", algo->name, said.text);
    MUST(mo_backend_cuda.download(s->unit, got->data, s->out, bytes, &err));
    return true;
}

static void compare(const case_buffers *s, const mo_cuda_algo *algo,
                    const mo_tensor_dense *got)
{
    const mo_tensor_dense *expected = &s->c->out[0];

    for (int64_t i = 0; i < mo_tensor_desc_elements(&got->desc); i++) {
        double x = mo_tensor_get_double(got, i),
               y = mo_tensor_get_double(expected, i);

        if (!(fabs(x - y) <= s->allowed))
            ck_abort_msg("%s: element %lld is %g, not %g (within %g)",
                         algo->name, (long long) i, x, y, s->allowed);
    }
}

static void check_algo(case_buffers *s, const mo_cuda_algo *algo)
{
    mo_tensor_dense first = { .data = NULL }, second = { .data = NULL };

    MUST(mo_tensor_new(&s->result, &first, &err));
    MUST(mo_tensor_new(&s->result, &second, &err));
    if (run_algo(s, algo, &first)) {
        compare(s, algo, &first);
        ck_assert(run_algo(s, algo, &second));
        ck_assert_msg(memcmp(first.data, second.data, bytes_of(&first)) == 0,
                      "%s: the second run makes other bytes than the first",
                      algo->name);
        s->tried++;
        printf("  %s", algo->name);
    }
    mo_tensor_clear(&first);
    mo_tensor_clear(&second);
}

static void check_found(case_buffers *s, mo_cuda_algo_finder *find,
                        const char *kind, int *tried)
{
    mo_cuda_algo_list algos = { .n = 0 };

    MUST(find(s->unit, &s->problem, &algos, &err));
    MUST(mo_cuda_jit_compile(s->unit, &err));
    for (int i = 0; i < algos.n; i++) {
        mo_cuda_algo *algo = algos.algos[i];

        check_algo(s, algo);
        *tried += strncmp(algo->name, kind, strlen(kind)) == 0;
        algo->kind->drop(s->unit, algo);
    }
    free(algos.algos);
}

/* Tolerance relative to the largest element of the result. */
static double max_error(const call_case *c, mo_backend_precision precision)
{
    const mo_tensor_dense *out = &c->out[0];
    double largest = 1, relative = 2e-2;

    for (int64_t i = 0; i < mo_tensor_desc_elements(&out->desc); i++)
        largest = fmax(largest, fabs(mo_tensor_get_double(out, i)));
    if (out->desc.elem == MO_ELEM_F64)
        relative = 1e-12;
    if (out->desc.elem == MO_ELEM_F32)
        relative = precision == MO_BACKEND_PRECISION_TF32 ? 1e-2 : 1e-4;
    return relative * largest;
}

int check_algos(call_case *c, mo_backend_precision precision, const char *kind)
{
    static mo_cuda_algo_finder *const finders[] = {
        mo_cuda_tensorcore_algos,
        mo_cuda_cublaslt_algos,
        mo_cuda_cudnn_algos,
        mo_cuda_direct_algos,
    };
    case_buffers s = { .unit = gpu(precision), .c = c };
    int tried = 0;

    printf("%s %s:", mo_call_kind_name(c->call.kind),
           mo_elem_name(c->out[0].desc.elem));
    run_by_cpu(c);
    s.allowed = max_error(c, precision);
    open_buffers(&s);
    for (int i = 0; i < COUNT(finders); i++)
        check_found(&s, finders[i], kind, &tried);
    close_buffers(&s);
    printf("\n");
    ck_assert_int_gt(s.tried, 0);
    return tried;
}
