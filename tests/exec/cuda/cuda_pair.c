/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/cuda/cuda_pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/driver/cuda_api.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

void use_standin(void)
{
    const char *folder = getenv("top_builddir");
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/standin/standin_cuda.so",
             folder ? folder : ".");
    setenv("MOIRAI_CUDA", path, 1);
    setenv("MOIRAI_NVRTC", path, 1);
    setenv("MOIRAI_CUBLASLT", "", 1);
    setenv("MOIRAI_CUDNN", "", 1);
}

/* A GPU cannot be used in a process forked from one that has initialised the
 * driver. */
void use_cuda(void)
{
    const mo_cuda_api *api;
    mo_error err = { 0 };

    if (!getenv("MOIRAI_TEST_GPU")) {
        use_standin();
        return;
    }
    setenv("CK_FORK", "no", 1);
    if (mo_cuda_api_get(&api, &err) != MO_OK) {
        printf("skipped: %s\n", err.text);
        exit(77);
    }
}

/* Tolerance for a tensor with the largest element 1. */
static double max_error(mo_elem elem, mo_backend_precision precision)
{
    switch (elem) {
    case MO_ELEM_F64:
        return 1e-12;
    case MO_ELEM_F32:
        return precision == MO_BACKEND_PRECISION_TF32 ? 1e-2 : 1e-4;
    case MO_ELEM_F16:
    case MO_ELEM_BF16:
        return 2e-2;
    default:
        return 0;
    }
}

static double largest_of(const mo_tensor_dense *tensor)
{
    double largest = 0;

    for (int64_t i = 0; i < mo_tensor_desc_elements(&tensor->desc); i++) {
        double x = fabs(mo_tensor_get_double(tensor, i));

        if (x > largest && !isinf(x))
            largest = x;
    }
    return largest;
}

static bool is_near(double x, double y, double allowed)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= allowed;
}

static void compare(const call_case *c, int k, const mo_tensor_dense *expected,
                    mo_backend_precision precision, uint64_t seed)
{
    const mo_tensor_dense *out = &c->out[k];
    double error = max_error(out->desc.elem, precision), allowed;
    char text[MO_TENSOR_DESC_TEXT_SIZE];

    /* CPUs round the weights of values in f16 to their type. */
    if (c->call.kind == MO_CALL_ATTENTION &&
        c->in[2].desc.elem != out->desc.elem)
        error = fmax(error, 1e-3);
    allowed = error * largest_of(expected);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&out->desc); i++)
        if (!is_near(mo_tensor_get_double(out, i),
                     mo_tensor_get_double(expected, i), allowed))
            ck_abort_msg("seed %llu: %s: element %lld of out %d, %s, is %.9g, "
                         "not %.9g",
                         (unsigned long long) seed,
                         mo_call_kind_name(c->call.kind), (long long) i, k,
                         mo_tensor_desc_format(&out->desc, text),
                         mo_tensor_get_double(out, i),
                         mo_tensor_get_double(expected, i));
}

static void keep_results(call_case *c, mo_tensor_dense *kept)
{
    for (int i = 0; i < c->call.n_out; i++) {
        size_t bytes = (size_t) mo_tensor_desc_bytes(&c->out[i].desc);

        MUST(mo_tensor_new(&c->out[i].desc, &kept[i], &err));
        if (bytes == 0)
            continue;
        memcpy(kept[i].data, c->out[i].data, bytes);
        memset(c->out[i].data, 0x55, bytes);
    }
}

static void run_on_cpu(call_case *const *cases, int n)
{
    const mo_backend_unit_options alone = { .threads = 1 };
    mo_backend_unit *unit = NULL;

    MUST(mo_backend_cpu.open(&alone, &unit, &err));
    case_run_all(cases, n, &mo_backend_cpu, unit);
    mo_backend_cpu.close(unit);
}

void pair_check(call_case *const *cases, int n, mo_backend_precision precision,
                const uint64_t *seeds)
{
    const mo_backend *cuda = &mo_backend_cuda;
    mo_tensor_dense(*expected)[CASE_OPERANDS] =
        calloc((size_t) n, sizeof *expected);

    ck_assert_ptr_nonnull(expected);
    run_on_cpu(cases, n);
    for (int i = 0; i < n; i++)
        keep_results(cases[i], expected[i]);
    case_run_all(cases, n, cuda, tested_unit(cuda, precision));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < cases[i]->call.n_out; k++) {
            compare(cases[i], k, &expected[i][k], precision, seeds[i]);
            mo_tensor_clear(&expected[i][k]);
        }
    free(expected);
}
