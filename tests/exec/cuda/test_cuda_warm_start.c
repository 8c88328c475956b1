/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/algo/{algo,autotune,pack_weights}.h: with tuning
 * cache and disk cache of a first start, a second one prepares only what it
 * runs. */
#include <config.h>

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/driver/staging_buffer.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

enum { PRODUCT, CONVOLUTION, CASES };

/* Both have padded columns: rows of k are no multiples of four. */
static void make_product(call_case *c)
{
    enum { M = 40, N = 24, K = 130 };

    case_begin(c, MO_CALL_MATMUL);
    c->call.u.matmul = (mo_call_matmul){ .m = M,
                                         .n = N,
                                         .k = K,
                                         .a = { .row = K, .column = 1 },
                                         .b = { .row = N, .column = 1 },
                                         .c = { .row = N, .column = 1 } };
    case_in(c, MO_ELEM_F32, shape_of(2, (int64_t) M, (int64_t) K), 1);
    case_in(c, MO_ELEM_F32, shape_of(2, (int64_t) K, (int64_t) N), 2);
    case_out(c, MO_ELEM_F32, shape_of(2, (int64_t) M, (int64_t) N));
}

static void make_convolution(call_case *c)
{
    enum { SIZE = 9, IN = 6, OUT = 20 };

    case_begin(c, MO_CALL_CONV);
    c->call.u.conv = (mo_call_conv){ .sweep = { 2,
                                                { SIZE, SIZE },
                                                { SIZE, SIZE },
                                                { 3, 3 },
                                                { 1, 1 },
                                                { 1, 1 },
                                                { 1, 1 },
                                                { 1, 1 } },
                                     .batch = 1,
                                     .in_channels = IN,
                                     .out_channels = OUT,
                                     .groups = 1,
                                     .channels_last = true };
    case_in(
        c, MO_ELEM_F32,
        shape_of(4, (int64_t) 1, (int64_t) IN, (int64_t) SIZE, (int64_t) SIZE),
        1);
    case_in(c, MO_ELEM_F32,
            shape_of(4, (int64_t) OUT, (int64_t) IN, (int64_t) 3, (int64_t) 3),
            2);
    case_out(c, MO_ELEM_F32,
             shape_of(4, (int64_t) 1, (int64_t) OUT, (int64_t) SIZE,
                      (int64_t) SIZE));
}

static void make_case(call_case *c, int which)
{
    if (which == PRODUCT)
        make_product(c);
    else
        make_convolution(c);
    c->constant = 2;
}

static mo_backend_unit *open_unit(const char *folder)
{
    const mo_backend_unit_options options = { .cache = folder,
                                              .autotune = true,
                                              .precision =
                                                  MO_BACKEND_PRECISION_TF32 };
    mo_backend_unit *unit = NULL;

    use_cuda();
    MUST(mo_backend_cuda.open(&options, &unit, &err));
    return unit;
}

/* Runs the case; returns the number of requested sources, all of which are
 * loaded. */
static int run_in(mo_backend_unit *unit, call_case *c)
{
    const char *name;
    int n = 0;

    case_run_on(c, &mo_backend_cuda, unit);
    while (mo_cuda_jit_cache_source(unit->jit_cache, (size_t) n, &name))
        n++;
    return n;
}

static int run_once(const char *folder, call_case *c)
{
    mo_backend_unit *unit = open_unit(folder);
    int n = run_in(unit, c);

    mo_backend_cuda.close(unit);
    return n;
}

static void remove_folder(const char *folder)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_second_start_makes_only_what_it_runs)
{
    char folder[] = "cuda_warm.XXXXXX";
    call_case first, second;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_case(&first, _i);
    make_case(&second, _i);
    ck_assert_int_gt(run_once(folder, &first), 1);
    ck_assert_int_le(run_once(folder, &second), 1);
    ck_assert_mem_eq(second.out[0].data, first.out[0].data,
                     (size_t) mo_tensor_desc_bytes(&first.out[0].desc));
    case_end(&first);
    case_end(&second);
    remove_folder(folder);
}
END_TEST

/* The key of the only tuning cache entry in a folder. */
static uint64_t key_in(const char *folder)
{
    char pattern[64], line[256] = "";
    uint64_t key = 0;
    glob_t found;
    FILE *file;

    snprintf(pattern, sizeof pattern, "%s/*.notes", folder);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    file = fopen(found.gl_pathv[0], "r");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    globfree(&found);
    ck_assert_int_eq(sscanf(line, "%16" SCNx64 " ", &key), 1);
    return key;
}

START_TEST(a_way_that_has_gone_is_chosen_anew)
{
    static const char *const gone[] = { "tensor of old", "cublaslt 1 v0",
                                        "weaving" };
    char folder[] = "cuda_gone.XXXXXX";
    call_case c;
    uint64_t key;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_case(&c, PRODUCT);
    ck_assert_int_gt(run_once(folder, &c), 1);
    key = key_in(folder);
    for (int i = 0; i < how_many(COUNT(gone), 1); i++) {
        mo_backend_unit *unit = open_unit(folder);

        mo_cuda_tuning_cache_add(unit->tuning_cache, key, gone[i], 1);
        ck_assert_int_gt(run_in(unit, &c), 1);
        ck_assert_str_ne(
            mo_cuda_tuning_cache_best_name(unit->tuning_cache, key), gone[i]);
        mo_backend_cuda.close(unit);
    }
    case_end(&c);
    remove_folder(folder);
}
END_TEST

START_TEST(what_is_sent_arrives)
{
    enum { PIECES = 5, NUMBERS = 1000 };
    mo_backend_unit *unit = open_unit("");
    unsigned back[NUMBERS];
    CUdeviceptr memory = 0;
    void *near;

    MUST(mo_cuda_alloc(unit, PIECES * sizeof back, &memory, &err));
    for (unsigned i = 0; i < PIECES; i++) {
        MUST(mo_cuda_staging_acquire(unit, sizeof back, &near, &err));
        for (unsigned k = 0; k < NUMBERS; k++)
            ((unsigned *) near)[k] = i * NUMBERS + k;
        MUST(mo_cuda_staging_copy_async(unit, memory + i * sizeof back,
                                        sizeof back, &err));
    }
    /* More than a buffer's usual size. */
    MUST(mo_cuda_staging_acquire(unit, MO_CUDA_STAGING_BYTES + 1, &near, &err));
    ((char *) near)[MO_CUDA_STAGING_BYTES] = 1;
    mo_cuda_staging_free(unit);
    mo_cuda_staging_free(unit);
    for (unsigned i = 0; i < PIECES; i++) {
        MUST(mo_backend_cuda.download(unit, back,
                                      (void *) (memory + i * sizeof back),
                                      sizeof back, &err));
        for (unsigned k = 0; k < NUMBERS; k++)
            ck_assert_uint_eq(back[k], i * NUMBERS + k);
    }
    mo_backend_cuda.close(unit);
}
END_TEST

SUITE(cuda_warm_start)
{
    EACH(a_second_start_makes_only_what_it_runs, CASES);
    TEST(a_way_that_has_gone_is_chosen_anew);
    TEST(what_is_sent_arrives);
}
