/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/backend/cuda/jit/jit_cache.h: the prelude compiles for every
 * architecture, and compile errors are reported. Needs NVRTC, no GPU. */
#include <config.h>

#include "exec/backend/cuda/jit/jit_cache.h"

#include <stdio.h>

#include "tests/support/suite.h"

enum { EXIT_SKIPPED = 77, MOST_ARCHS = 64 };

static mo_cuda_api api;

/* Everything of the prelude is used, so that it is compiled. */
static const char words[] =
    "MO_KERNEL_OF(words, 128)(float *x, unsigned *u, long long *l)\n"
    "{\n"
    "    MO_SHARED float part[32];\n"
    "    MO_SHARED double wide[32];\n"
    "    MO_SHARED long long whole[32];\n"
    "    MO_NEXT();\n"
    "    MO_BEGIN();\n"
    "    int i = threadIdx.x + blockIdx.x * blockDim.x;\n"
    "    x[i] = mo_block_sum_f(x[i], part) + mo_block_max_f(x[i], part)\n"
    "         + mo_block_min_f(x[i], part) + MO_INF + MO_NAN;\n"
    "    x[i] += (float) (mo_block_sum_d(x[i], wide)\n"
    "                   + mo_block_max_d(x[i], wide)\n"
    "                   + mo_block_min_d(x[i], wide) + MO_INF_D + MO_NAN_D);\n"
    "    l[i] = mo_block_sum_l(i, whole) + mo_block_max_l(i, whole)\n"
    "         + mo_block_min_l(i, whole) + mo_shfl_l(i, 3)\n"
    "         + mo_shfl_up_i(i, 1) + mo_shfl_down_u(i, 2) + MO_WARP;\n"
    "    u[i] = mo_ballot(i > 3) + mo_atomic_add(u + 7, 1u);\n"
    "    mo_fence();\n"
    "    mo_sync_warp();\n"
    "    MO_SYNC();\n"
    "    float4 v = mo_load_l2_f4(x);\n"
    "    x[i] += v.x + mo_load_l2_f(x + 6) + mo_exp(v.y) + mo_exp2(v.z)\n"
    "          + erff(v.w);\n"
    "}\n";
static const char halves[] =
    "MO_KERNEL_SIZED(halves, 256, 2)(mo_f16 *h, mo_bf16 *b, unsigned *u)\n"
    "{\n"
    "    MO_BEGIN();\n"
    "    int i = threadIdx.x;\n"
    "    h[i] = mo_f16_store(mo_f16_load(h[i]) + 1.0f);\n"
    "    b[i] = mo_bf16_store(mo_bf16_load(b[i]) + 1.0f);\n"
    "    u[0] = mo_f16_pack(mo_f16_low(u[1]), mo_f16_high(u[1]));\n"
    "    u[2] = mo_bf16_pack(mo_bf16_low(u[3]), mo_bf16_high(u[3]));\n"
    "}\n";
static const char tensors[] =
    "MO_KERNEL(tensors)(float *x, unsigned *u)\n"
    "{\n"
    "    MO_DYNAMIC_SHARED(float, tile);\n"
    "    float d[4] = { 0, 0, 0, 0 };\n"
    "    unsigned a[4] = { u[0], u[1], u[2], u[3] }, b[2] = { u[4], u[5] };\n"
    "    MO_BEGIN();\n"
    "    mo_cp_async16(tile + 4 * MO_LANE, x + 4 * MO_LANE, MO_LANE < 9);\n"
    "    mo_cp_async8(tile + 128, x, 1);\n"
    "    mo_cp_async4(tile + 130, x, 0);\n"
    "    mo_cp_commit();\n"
    "    mo_cp_wait(1);\n"
    "    mo_cp_wait(0);\n"
    "    MO_SYNC();\n"
    "#if MO_HAS_F16\n"
    "    mo_ldmatrix_x4(a, tile + 4 * MO_LANE);\n"
    "    mo_ldmatrix_x2(b, tile + 4 * MO_LANE);\n"
    "    mo_mma_f16_16x8x16(d, a, b);\n"
    "    mo_ldmatrix_turned_x4(a, tile + 4 * MO_LANE);\n"
    "    mo_ldmatrix_turned_x2(b, tile + 4 * MO_LANE);\n"
    "#endif\n"
    "#if MO_HAS_BF16\n"
    "    mo_mma_bf16_16x8x16(d, a, b);\n"
    "#endif\n"
    "#if MO_HAS_TF32\n"
    "    a[0] = mo_tf32(d[1]);\n"
    "    mo_mma_tf32_16x8x8(d, a, b);\n"
    "#endif\n"
    "    x[MO_LANE] = d[0] + d[1] + d[2] + d[3];\n"
    "}\n";

static const struct {
    const char *name, *text;
} sources[] = {
    { "words", words },
    { "halves", halves },
    { "tensors", tensors },
};

static void check_compiles(const char *text, const char *name, int arch)
{
    mo_error err = { 0 };
    char *cubin = NULL;
    size_t size = 0;
    mo_status status =
        mo_cuda_nvrtc_compile(&api, text, name, arch, &cubin, &size, &err);

    ck_assert_msg(status == MO_OK, "sm_%d: %s", arch, err.text);
    ck_assert_uint_gt(size, 0);
    free(cubin);
}

START_TEST(the_prelude_compiles_for_every_architecture)
{
    int archs[MOST_ARCHS], n = 0;

    ck_assert_int_eq(api.nvrtcGetNumSupportedArchs(&n), NVRTC_SUCCESS);
    ck_assert_int_gt(n, 0);
    ck_assert_int_le(n, MOST_ARCHS);
    ck_assert_int_eq(api.nvrtcGetSupportedArchs(archs), NVRTC_SUCCESS);
    for (int i = 0; i < n; i++)
        if (archs[i] >= 70)
            check_compiles(sources[_i].text, sources[_i].name, archs[i]);
}
END_TEST

/* A newer device of the same major version gets a cubin of an older one; one
 * of the next major version gets PTX, which is text. */
START_TEST(devices_newer_than_the_compiler_get_what_they_can_run)
{
    char *ptx = NULL;
    size_t size = 0;

    check_compiles(words, "words", 99);
    MUST(mo_cuda_nvrtc_compile(&api, words, "words", 999, &ptx, &size, &err));
    ck_assert_ptr_nonnull(strstr(ptx, ".version"));
    free(ptx);
}
END_TEST

START_TEST(devices_older_than_the_compiler_are_refused)
{
    mo_error err = { 0 };
    char *cubin = NULL;
    size_t size = 0;

    ck_assert_int_eq(
        mo_cuda_nvrtc_compile(&api, words, "words", 10, &cubin, &size, &err),
        MO_E_SUPPORT);
    ck_assert_ptr_nonnull(strstr(err.text, "sm_10"));
}
END_TEST

START_TEST(a_source_that_does_not_compile_is_told)
{
    mo_error err = { 0 };
    char *cubin = NULL;
    size_t size = 0;

    ck_assert_int_ne(
        mo_cuda_nvrtc_compile(&api, "MO_KERNEL(wrong)(void) { lachesis; }\n",
                              "wrong", 90, &cubin, &size, &err),
        MO_OK);
    ck_assert_ptr_null(cubin);
    ck_assert_ptr_nonnull(strstr(err.text, "'wrong'"));
    ck_assert_ptr_nonnull(strstr(err.text, "lachesis"));
    ck_assert_ptr_null(strchr(err.text, '\n'));
}
END_TEST

static int run_all(void)
{
    Suite *suite = suite_create("cuda_nvrtc");
    TCase *tests = tcase_create("cuda_nvrtc");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 120);
    EACH(the_prelude_compiles_for_every_architecture, COUNT(sources));
    TEST(devices_newer_than_the_compiler_get_what_they_can_run);
    TEST(devices_older_than_the_compiler_are_refused);
    TEST(a_source_that_does_not_compile_is_told);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
    mo_error err = { 0 };

    if (mo_cuda_api_load_nvrtc(&api, &err) == MO_OK)
        return run_all();
    printf("skipped: %s\n", err.text);
    return EXIT_SKIPPED;
}
