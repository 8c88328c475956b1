/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/tensor/npy.h: files of every version and type, and hostile
 * ones. */
#include "exec/tensor/npy.h"

#include <stdio.h>

#include "tests/support/graphs.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A file of version 1 or 2 with this literal and these numbers. */
typedef struct file {
    char bytes[512];
    size_t size;
} file;

static file file_of(int version, const char *literal, const void *data,
                    size_t size)
{
    file f;
    size_t n = strlen(literal);

    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = (char) version;
    f.bytes[7] = 0;
    f.bytes[8] = (char) n;
    f.bytes[9] = 0;
    f.size = 10;
    if (version > 1) {
        f.bytes[10] = f.bytes[11] = 0;
        f.size = 12;
    }
    memcpy(f.bytes + f.size, literal, n);
    f.size += n;
    memcpy(f.bytes + f.size, data, size);
    f.size += size;
    return f;
}

static mo_status read_file(const file *f, mo_tensor_dense *dense, mo_error *err)
{
    char *exact = malloc(f->size); /* heap buffer of the exact size: sanitizers
                                      detect overreads */
    mo_status status;

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, f->bytes, f->size);
    status = mo_npy_read_memory("x.npy", exact, f->size, dense, err);
    free(exact);
    return status;
}

static mo_tensor_desc random_desc(test_random *random)
{
    mo_tensor_desc desc = { .elem =
                                (mo_elem) random_below(random, MO_ELEM_COUNT) };

    desc.shape.rank = random_below(random, 5);
    for (int d = 0; d < desc.shape.rank; d++)
        desc.shape.dims[d] = random_below(random, 6);
    return desc;
}

START_TEST(what_is_written_is_read_back)
{
    test_random random = { (uint64_t) _i };
    mo_tensor_desc desc = random_desc(&random);
    mo_tensor_dense a = { 0 }, b = { 0 };
    mo_elem kept = desc.elem == MO_ELEM_BF16 ? MO_ELEM_F32 : desc.elem;

    MUST(mo_tensor_new(&desc, &a, &err));
    mo_tensor_fill_random(&a, (uint64_t) _i, 3, 100);
    MUST(mo_npy_write("a.npy", &a, &err));
    MUST(mo_npy_read("a.npy", &b, &err));
    ck_assert_int_eq(b.desc.elem, kept);
    ck_assert(mo_shape_equal(&b.desc.shape, &desc.shape));
    for (int64_t i = 0; i < mo_tensor_desc_elements(&desc); i++)
        ck_assert_double_eq(mo_tensor_get_double(&a, i),
                            mo_tensor_get_double(&b, i));
    mo_tensor_clear(&a);
    mo_tensor_clear(&b);
}
END_TEST

static const unsigned char six[] = { 1, 2, 3, 4, 5, 6 };

static const struct {
    const char *literal;
    int version;
    const char *numbers; /* in row-major order */
} good[] = {
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n", 1,
      "u8[2,3] 1 2 3 4 5 6" },
    { "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 1,
      "u8[2,3] 1 3 5 2 4 6" },
    { "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 1, 2), }\n", 2,
      "u8[3,1,2] 1 4 2 5 3 6" },
    { "{\"shape\":(6,),\"fortran_order\":False,\"descr\":\">i1\"}", 3,
      "i8[6] 1 2 3 4 5 6" },
    { "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n", 2,
      "u16[3] 513 1027 1541" },
    { "{'descr': '|b1', 'fortran_order': False, 'shape': (1,6), }\n", 1,
      "boolean[1,6] 1 1 1 1 1 1" },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", 1,
      "u8[] 1" },
    { "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 7), }\n", 1,
      "f32[0,7]" },
};

START_TEST(numpy_files_are_understood)
{
    file f = file_of(good[_i].version, good[_i].literal, six, sizeof six);
    mo_tensor_dense dense = { 0 };
    char text[MO_TENSOR_DESC_TEXT_SIZE + 256];
    size_t n;

    MUST(read_file(&f, &dense, &err));
    mo_tensor_desc_format(&dense.desc, text);
    n = strlen(text);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&dense.desc); i++)
        n += (size_t) snprintf(text + n, sizeof text - n, " %lld",
                               (long long) mo_tensor_get_int(&dense, i));
    ck_assert_str_eq(text, good[_i].numbers);
    mo_tensor_clear(&dense);
}
END_TEST

static const struct {
    const char *literal;
    int version;
    const char *why;
} bad[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 1,
      "ends too early" },
    { "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 1,
      "type '>f4'" },
    { "{'descr': '?u1', 'fortran_order': False, 'shape': (1,), }", 1,
      "type '?u1'" },
    { "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 1,
      "type '<c8'" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 1,
      "several fields" },
    { "{'descr': '<f4', 'fortran_order': False, }", 1, "header" },
    { "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", 1,
      "header" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 1,
      "header" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", 1,
      "header" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 1, "header" },
    { "{'descr': '<f4', 'fortran_order': False 'shape': (1,)}", 1, "header" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(4000000000,4000000000,4000000000)}",
      1, "more elements" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(99999999999999999999,)}",
      1, "header" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
      1, "dimensions" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4,
      "version 4" },
};

START_TEST(other_files_are_refused_by_name)
{
    file f = file_of(bad[_i].version, bad[_i].literal, six, sizeof six);
    mo_tensor_dense dense = { 0 };
    mo_error err = { 0 };

    ck_assert_int_ne(read_file(&f, &dense, &err), MO_OK);
    ck_assert_str_eq(err.file, "x.npy");
    ck_assert_msg(strstr(err.text, bad[_i].why) != NULL, "%s", err.text);
    ck_assert_ptr_null(dense.data);
}
END_TEST

START_TEST(a_file_that_is_cut_anywhere_is_refused)
{
    file whole = file_of(1 + _i, good[0].literal, six, sizeof six);

    for (size_t size = 0; size < whole.size; size++) {
        mo_tensor_dense dense = { 0 };
        file cut = whole;

        cut.size = size;
        ck_assert_int_ne(read_file(&cut, &dense, NULL), MO_OK);
    }
}
END_TEST

/* Whatever a byte becomes, the reader stays within the buffer. */
START_TEST(a_file_that_is_changed_does_no_harm)
{
    test_random random = { (uint64_t) _i };

    for (int k = 0; k < 2000; k++) {
        file f = file_of(1, good[k % 4].literal, six, sizeof six);
        mo_tensor_dense dense = { 0 };

        for (int changes = 1 + random_below(&random, 3); changes > 0; changes--)
            f.bytes[random_below(&random, (int) f.size)] =
                (char) random_below(&random, 256);
        read_file(&f, &dense, NULL);
        mo_tensor_clear(&dense);
    }
}
END_TEST

START_TEST(folders_and_absent_files_are_told)
{
    mo_tensor_dense dense = { 0 };
    mo_error err = { 0 };

    ck_assert_int_eq(mo_npy_read(".", &dense, &err), MO_E_IO);
    ck_assert_int_eq(mo_npy_read("nowhere.npy", &dense, &err), MO_E_IO);
    ck_assert_str_eq(err.file, "nowhere.npy");
}
END_TEST

SUITE(npy)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    SOME(what_is_written_is_read_back, 200, 20);
    EACH(numpy_files_are_understood, COUNT(good));
    EACH(other_files_are_refused_by_name, COUNT(bad));
    EACH(a_file_that_is_cut_anywhere_is_refused, 2);
    SOME(a_file_that_is_changed_does_no_harm, 10, 1);
    TEST(folders_and_absent_files_are_told);
}
