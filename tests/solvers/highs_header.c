/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the declarations of solvers/plugins/highs_api.h with the header of
 * HiGHS at compile time; there is nothing to run, and HiGHS is not linked.
 */
#include <stddef.h>

#include "interfaces/highs_c_api.h"
#include "solvers/plugins/highs_api.h"

#define SAME(member, function)                                                 \
    _Static_assert(_Generic(((mo_highs_api *) 0)->member,                      \
                            __typeof__(&function) : 1, default : 0),           \
                   #function)

SAME(version_major, Highs_versionMajor);
SAME(version_minor, Highs_versionMinor);
SAME(version_patch, Highs_versionPatch);
SAME(size_of_int, Highs_getSizeofHighsInt);
SAME(create, Highs_create);
SAME(destroy, Highs_destroy);
SAME(set_bool, Highs_setBoolOptionValue);
SAME(set_int, Highs_setIntOptionValue);
SAME(set_double, Highs_setDoubleOptionValue);
SAME(set_string, Highs_setStringOptionValue);
SAME(read_model, Highs_readModel);
SAME(pass_lp, Highs_passLp);
SAME(run, Highs_run);
SAME(model_status, Highs_getModelStatus);
SAME(int_info, Highs_getIntInfoValue);
SAME(int64_info, Highs_getInt64InfoValue);
SAME(double_info, Highs_getDoubleInfoValue);
SAME(n_columns, Highs_getNumCol);
SAME(n_rows, Highs_getNumRow);
SAME(column_name, Highs_getColName);
SAME(solution, Highs_getSolution);
SAME(set_solution, Highs_setSolution);
SAME(start_callback, Highs_startCallback);
SAME(mip, Highs_mipCall);

/* Callback arguments have our own types. */
typedef void their_callback(int, const char *, const HighsCallbackDataOut *,
                            HighsCallbackDataIn *, void *);

_Static_assert(_Generic((HighsCCallbackType) 0, their_callback * : 1,
                        default : 0),
               "the callback");
_Static_assert(_Generic(&Highs_setCallback,
                        HighsInt (*)(void *, HighsCCallbackType, void *) : 1,
                        default : 0),
               "Highs_setCallback");
_Static_assert(offsetof(HighsCallbackDataIn, user_interrupt) ==
                   offsetof(mo_highs_callback_in, user_interrupt),
               "where the interrupt is");
_Static_assert(_Generic(((HighsCallbackDataIn *) 0)->user_interrupt, int : 1,
                        default : 0),
               "what the interrupt is");

/* The header's constants are no constant expressions in C. */
int main(void)
{
    return !(
        kHighsStatusOk == MO_HIGHS_OK && kHighsStatusError == MO_HIGHS_ERROR &&
        kHighsStatusWarning == MO_HIGHS_WARNING &&
        kHighsModelStatusOptimal == MO_HIGHS_OPTIMAL &&
        kHighsModelStatusInfeasible == MO_HIGHS_INFEASIBLE &&
        kHighsModelStatusUnboundedOrInfeasible ==
            MO_HIGHS_UNBOUNDED_OR_INFEASIBLE &&
        kHighsModelStatusUnbounded == MO_HIGHS_UNBOUNDED &&
        kHighsSolutionStatusFeasible == MO_HIGHS_POINT_FEASIBLE &&
        kHighsCallbackSimplexInterrupt == MO_HIGHS_SIMPLEX_INTERRUPT &&
        kHighsCallbackIpmInterrupt == MO_HIGHS_IPM_INTERRUPT &&
        kHighsCallbackMipImprovingSolution == MO_HIGHS_MIP_IMPROVING_SOLUTION &&
        kHighsCallbackMipInterrupt == MO_HIGHS_MIP_INTERRUPT &&
        kHighsMatrixFormatColwise == MO_HIGHS_BY_COLUMN &&
        kHighsObjSenseMinimize == MO_HIGHS_MINIMIZE);
}
