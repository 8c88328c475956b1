/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_model.h - random models without meaning, to stream through sinks.
 *
 * They cover every kind of column, bound, sense and number, and rows of one
 * term as well as of all columns.
 */
#ifndef MO_TESTS_MODELS_RANDOM_MODEL_H
#define MO_TESTS_MODELS_RANDOM_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "models/sink/sink.h"
#include "tests/models/strict_reader.h"

typedef struct sample_row {
    const char *family;
    int64_t number;
    mo_sense sense;
    double rhs;
    int first, n; /* entries */
} sample_row;

typedef struct sample_model {
    int n_columns, n_rows, n_entries;
    mo_variable *columns;
    sample_row *rows;
    int *column;
    double *coef;
} sample_model;

/* About that many columns and rows; the same for the same seed. */
void sample_make(sample_model *s, unsigned seed, int n_columns, int n_rows);
void sample_free(sample_model *s);

/* In as many passes as the sink needs; the test fails if the sink does. */
void sample_send(const sample_model *s, mo_sink *sink);

/* Returns the bytes of the file; the caller frees them. */
char *sample_lp(const sample_model *s, size_t *size);
char *sample_mps(const sample_model *s, size_t *size);

typedef char *sample_writer(const sample_model *s, size_t *size);
typedef bool strict_reader(strict_model *m, const char *text);

/* Round trip: the model read back is the model written, numbers to 15
 * digits. */
void sample_survives(unsigned seed, sample_writer *write, strict_reader *read);

/* The reader rejects the text with an error at that line. */
void sample_refused(const char *text, int line, strict_reader *read);

#endif
