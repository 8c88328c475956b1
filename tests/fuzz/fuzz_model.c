/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential fuzzer of models: for any instance, regime and formulation the
 * LP and the MPS file, read by strict readers, are the same model, and the MIP
 * start satisfies its rows.
 */
#include <assert.h>
#include <math.h>

#include "models/model.h"
#include "models/write/lp_writer.h"
#include "models/write/mip_start.h"
#include "models/write/mps_writer.h"
#include "solvers/formats/solution.h"
#include "tests/fuzz/fuzz_instance.h"
#include "tests/models/strict_reader.h"

typedef enum file_kind { LP, MPS, START } file_kind;

static char *write_model(const mo_model *model, file_kind kind, size_t *size)
{
    mo_error err = { 0 };
    mo_sink *sink = NULL;
    mo_out *out = NULL;
    char *text;

    assert(mo_out_memory(&out, &err) == MO_OK);
    if (kind == LP)
        assert(mo_lp_writer_new(out, NULL, &sink, &err) == MO_OK);
    else if (kind == MPS)
        assert(mo_mps_writer_new(out, NULL, &sink, &err) == MO_OK);
    else
        assert(mo_mip_start_new(out, MO_MIP_START_MIPLIB, &sink, &err) ==
               MO_OK);
    assert(mo_model_write(model, sink, &err) == MO_OK);
    mo_sink_free(sink);
    text = mo_out_take(out, size);
    assert(text);
    mo_out_abandon(out);
    return text;
}

static int compare_entries(const void *a, const void *b)
{
    const strict_entry *x = a, *y = b;

    return x->row != y->row ? x->row - y->row : x->column - y->column;
}

/* Rows and columns are numbered as in lp; both are then sorted. */
static void renumber(strict_model *mps, const strict_model *lp)
{
    for (size_t i = 0; i < mps->n_entries; i++) {
        strict_entry *e = &mps->entries[i];

        e->row = strict_find_row(lp, mps->rows[e->row].name);
        e->column = strict_find_column(lp, mps->columns[e->column].name);
        assert(e->row >= 0 && e->column >= 0);
    }
}

static void sort_entries(strict_model *m)
{
    qsort(m->entries, m->n_entries, sizeof *m->entries, compare_entries);
}

static void compare_models(strict_model *lp, strict_model *mps)
{
    assert(lp->n_columns == mps->n_columns && lp->n_rows == mps->n_rows);
    assert(lp->n_entries == mps->n_entries);
    for (size_t i = 0; i < lp->n_columns; i++) {
        const strict_column *a = &lp->columns[i];
        int j = strict_find_column(mps, a->name);

        assert(j >= 0 && a->integer == mps->columns[j].integer);
        assert(a->lower == mps->columns[j].lower);
        assert(a->upper == mps->columns[j].upper);
    }
    for (size_t i = 1; i < lp->n_rows; i++) {
        const strict_row *a = &lp->rows[i];
        int j = strict_find_row(mps, a->name);

        assert(j >= 0 && a->sense == mps->rows[j].sense);
        assert(a->rhs == mps->rows[j].rhs);
    }
    renumber(mps, lp);
    sort_entries(lp);
    sort_entries(mps);
    for (size_t i = 0; i < lp->n_entries; i++) {
        assert(compare_entries(&lp->entries[i], &mps->entries[i]) == 0);
        assert(lp->entries[i].coef == mps->entries[i].coef);
    }
}

/* Values of columns that the start leaves out are 0. */
static double *start_values(const strict_model *lp, const char *text,
                            size_t size)
{
    double *values = calloc(lp->n_columns + 1, sizeof *values);
    mo_solution *start = NULL;
    mo_error err = { 0 };

    assert(values);
    assert(mo_solution_read_memory("start", text, size, &start, &err) == MO_OK);
    for (int i = 0; i < start->n; i++) {
        int column = strict_find_column(lp, start->values[i].name);

        assert(column >= 0);
        values[column] = start->values[i].value;
    }
    mo_solution_free(start);
    return values;
}

/* Entries are sorted by row. */
static void check_start(const strict_model *lp, const double *values)
{
    size_t e = 0;

    for (size_t i = 0; i < lp->n_columns; i++) {
        const strict_column *column = &lp->columns[i];

        assert(values[i] >= column->lower - 1e-6 * fmax(1, column->lower));
        assert(values[i] <= column->upper + 1e-6 * fmax(1, column->upper));
    }
    for (size_t r = 0; r < lp->n_rows; r++) {
        const strict_row *row = &lp->rows[r];
        double sum = -row->rhs, size = 1 + fabs(row->rhs);

        for (; e < lp->n_entries && lp->entries[e].row == (int) r; e++) {
            double term = lp->entries[e].coef * values[lp->entries[e].column];

            sum += term;
            size += fabs(term);
        }
        assert(row->sense == 'N' || row->sense == 'G' || sum <= 1e-6 * size);
        assert(row->sense == 'N' || row->sense == 'L' || -sum <= 1e-6 * size);
    }
}

static void check_model(const mo_model *model)
{
    size_t lp_size, mps_size, start_size;
    char *lp_text = write_model(model, LP, &lp_size);
    char *mps_text = write_model(model, MPS, &mps_size), *start_text;
    strict_model lp = { 0 }, mps = { 0 };
    double *values;

    assert(strict_read_lp(&lp, lp_text));
    assert(strict_read_mps(&mps, mps_text));
    compare_models(&lp, &mps);
    if (mo_model_has_start(model)) {
        start_text = write_model(model, START, &start_size);
        values = start_values(&lp, start_text, start_size);
        check_start(&lp, values);
        free(values);
        free(start_text);
    }
    strict_free(&lp);
    strict_free(&mps);
    free(lp_text);
    free(mps_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    const mo_formulation *formulation;
    mo_identity identity = { .n = 0 };
    fuzz_instance made;
    mo_regime regime;
    mo_frame *frame = NULL;
    mo_model model;
    mo_error err = { 0 };
    mo_status status;
    int choice = fuzz_byte(&in), number = 0;

    while (number < (choice & 7) && mo_formulations[number + 1])
        number++;
    formulation = mo_formulations[number];
    regime = fuzz_regime(&in);
    if (!formulation->has_tensors_once)
        regime.tensors = MO_TENSORS_PER_EDGE;
    if (!fuzz_instance_make(&in, &made))
        return 0;
    status = mo_frame_make_open(made.x, &regime, choice & 8,
                                choice & 16 ? 1.5 : 0, &frame, &err);
    if (status == MO_OK)
        status = mo_model_make(formulation, frame, &identity, &model, &err);
    if (status == MO_OK) {
        check_model(&model);
        mo_model_clear(&model);
    }
    /* A formulation may be for other clusters or memory models. */
    assert(status == MO_OK || err.text[0] != '\0');
    mo_frame_free(frame);
    fuzz_instance_clear(&made);
    return 0;
}
