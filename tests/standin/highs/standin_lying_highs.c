/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with the entry points of HiGHS that are used, which solves nothing
 * and returns wrong dual values: what is computed from them must hold
 * nevertheless.
 *
 *     STANDIN_LIE   nan, huge (1e15), minus (-1), objective (duals are 1e-3,
 * the objective 1e9) or crash
 */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/plugins/highs_api.h"

static int n_rows;

static bool lies(const char *how)
{
    const char *lie = getenv("STANDIN_LIE");

    return lie && strcmp(lie, how) == 0;
}

int Highs_versionMajor(void);
int Highs_versionMinor(void);
int Highs_versionPatch(void);
int Highs_getSizeofHighsInt(const void *highs);
void *Highs_create(void);
void Highs_destroy(void *highs);
int Highs_passLp(void *highs, int n_columns, int rows, int n_nonzeros,
                 int format, int sense, double offset, const double *cost,
                 const double *lower, const double *upper,
                 const double *row_lower, const double *row_upper,
                 const int *start, const int *index, const double *value);
int Highs_run(void *highs);
int Highs_getSolution(const void *highs, double *columns, double *column_duals,
                      double *rows, double *row_duals);
int Highs_getDoubleInfoValue(const void *highs, const char *info,
                             double *value);

int Highs_versionMajor(void)
{
    return 1;
}

int Highs_versionMinor(void)
{
    return 15;
}

int Highs_versionPatch(void)
{
    return 1;
}

int Highs_getSizeofHighsInt(const void *highs)
{
    (void) highs;
    return (int) sizeof(int);
}

void *Highs_create(void)
{
    return malloc(1);
}

void Highs_destroy(void *highs)
{
    free(highs);
}

int Highs_passLp(void *highs, int n_columns, int rows, int n_nonzeros,
                 int format, int sense, double offset, const double *cost,
                 const double *lower, const double *upper,
                 const double *row_lower, const double *row_upper,
                 const int *start, const int *index, const double *value)
{
    (void) highs, (void) n_columns, (void) n_nonzeros, (void) format;
    (void) sense, (void) offset, (void) cost, (void) lower, (void) upper;
    (void) row_lower, (void) row_upper, (void) start, (void) index;
    (void) value;
    n_rows = rows;
    return MO_HIGHS_OK;
}

int Highs_run(void *highs)
{
    (void) highs;
    if (lies("crash"))
        abort();
    return MO_HIGHS_OK;
}

int Highs_getSolution(const void *highs, double *columns, double *column_duals,
                      double *rows, double *row_duals)
{
    double dual = lies("nan")     ? NAN
                  : lies("huge")  ? 1e15
                  : lies("minus") ? -1
                                  : 1e-3;

    (void) highs, (void) columns, (void) column_duals, (void) rows;
    for (int i = 0; i < n_rows; i++)
        row_duals[i] = dual;
    return MO_HIGHS_OK;
}

int Highs_getDoubleInfoValue(const void *highs, const char *info, double *value)
{
    (void) highs, (void) info;
    *value = 1e9;
    return MO_HIGHS_OK;
}

/* Not called with a linear program in memory, or without effect. */
#define UNUSED(name)                                                           \
    int name(void);                                                            \
    int name(void)                                                             \
    {                                                                          \
        return MO_HIGHS_OK;                                                    \
    }

UNUSED(Highs_setBoolOptionValue)
UNUSED(Highs_setIntOptionValue)
UNUSED(Highs_setDoubleOptionValue)
UNUSED(Highs_setStringOptionValue)
UNUSED(Highs_readModel)
UNUSED(Highs_getModelStatus)
UNUSED(Highs_getIntInfoValue)
UNUSED(Highs_getInt64InfoValue)
UNUSED(Highs_getNumCol)
UNUSED(Highs_getNumRow)
UNUSED(Highs_getColName)
UNUSED(Highs_setSolution)
UNUSED(Highs_setCallback)
UNUSED(Highs_startCallback)
UNUSED(Highs_getCallbackDataOutItem)
UNUSED(Highs_mipCall)
