/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of Gurobi's JSON solution:
 *
 *     { "SolutionInfo": { "Status": 2, "ObjVal": 30, "ObjBound": 30, ... },
 *       "Vars": [ { "VarName": "x_0_1", "X": 1 }, ... ] }
 *
 * By default columns with value 0 are omitted; without a solution there are no
 * Vars. The rest, which may be large, is skipped.
 */
#include "solvers/formats/json_stream.h"
#include "solvers/formats/solfmt.h"

static bool sniff_gurobi_json(const char *text)
{
    return *text == '{';
}

typedef struct info {
    bool has_info, has_vars;
    double status;
    double count; /* of solutions */
} info;

/* GRB_OPTIMAL and following; 7 and above are limits, interrupts and failures,
 * and so is any newer code. */
static mo_solution_status status_of(double status, bool has_solution)
{
    if (status == 2 && has_solution)
        return MO_SOLUTION_STATUS_OPTIMAL;
    if (status == 3)
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (status == 4 || status == 5)
        return MO_SOLUTION_STATUS_UNBOUNDED;
    return mo_solution_status_at_limit(has_solution);
}

static mo_status read_info(mo_solfmt_reader *r, const mo_solfmt_token *key,
                           void *state, mo_error *err)
{
    mo_solution *solution = r->solution;
    info *found = state;

    if (mo_solfmt_token_is(key, "Status"))
        return mo_json_stream_number(r, &found->status, err);
    if (mo_solfmt_token_is(key, "SolCount"))
        return mo_json_stream_number(r, &found->count, err);
    if (mo_solfmt_token_is(key, "ObjVal")) {
        solution->has_objective = true;
        return mo_json_stream_number(r, &solution->objective, err);
    }
    if (mo_solfmt_token_is(key, "ObjBound")) {
        solution->has_bound = true;
        return mo_json_stream_number(r, &solution->bound, err);
    }
    return mo_json_stream_skip(r, err);
}

typedef struct variable {
    mo_solfmt_token name;
    bool has_value;
    double value;
} variable;

static mo_status read_member(mo_solfmt_reader *r, const mo_solfmt_token *key,
                             void *state, mo_error *err)
{
    variable *v = state;

    if (mo_solfmt_token_is(key, "VarName"))
        return mo_json_stream_string(r, &v->name, err);
    if (mo_solfmt_token_is(key, "X")) {
        v->has_value = true;
        return mo_json_stream_number(r, &v->value, err);
    }
    return mo_json_stream_skip(r, err);
}

static mo_status read_variable(mo_solfmt_reader *r, const mo_solfmt_token *key,
                               void *state, mo_error *err)
{
    variable v = { 0 };
    mo_status status = mo_json_stream_object(r, read_member, &v, err);

    (void) key, (void) state;
    if (status != MO_OK)
        return status;
    if (v.name.length == 0 || !v.has_value)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, 0,
                          "variable %zu of Vars has no VarName or no X",
                          r->n + 1);
    return mo_solfmt_add_value(r, &v.name, v.value, err);
}

static mo_status read_part(mo_solfmt_reader *r, const mo_solfmt_token *key,
                           void *state, mo_error *err)
{
    info *found = state;

    if (mo_solfmt_token_is(key, "SolutionInfo")) {
        found->has_info = true;
        return mo_json_stream_object(r, read_info, found, err);
    }
    if (mo_solfmt_token_is(key, "Vars")) {
        found->has_vars = true;
        return mo_json_stream_array(r, read_variable, NULL, err);
    }
    return mo_json_stream_skip(r, err);
}

static mo_status read_gurobi_json(mo_solfmt_reader *r, mo_error *err)
{
    info found = { .count = 1 };
    mo_status status = mo_json_stream_object(r, read_part, &found, err);

    if (status == MO_OK)
        status = mo_json_stream_end(r, err);
    if (status != MO_OK)
        return status;
    if (!found.has_info && !found.has_vars)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, 0,
                          "is JSON, but no solution of Gurobi: it has neither "
                          "SolutionInfo nor Vars");
    if (found.has_info)
        r->solution->claim =
            status_of(found.status, found.has_vars && found.count > 0);
    return MO_OK;
}

const mo_solfmt mo_solfmt_gurobi_json = { "gurobi-json", "Gurobi (JSON)",
                                          sniff_gurobi_json, read_gurobi_json };
