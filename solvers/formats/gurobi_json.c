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
#include "base/json.h"
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

static mo_status read_number(const mo_solfmt_reader *r, const mo_json_member *m,
                             double *value, mo_error *err)
{
    mo_solfmt_token word = { r->begin + (m->value - r->begin),
                             m->value_length };

    return mo_solfmt_token_number(&word, value)
               ? MO_OK
               : mo_solfmt_fail_at(r, m->value, "no number where one should be",
                                   err);
}

static mo_status read_info(mo_solfmt_reader *r, const mo_json_member *part,
                           info *found, mo_error *err)
{
    mo_solution *solution = r->solution;
    mo_status status = MO_OK;
    mo_json_cursor c;
    mo_json_member m;

    found->has_info = true;
    if (!mo_json_open(&c, '{', part->value, part->value_length))
        return mo_solfmt_fail_at(r, part->value,
                                 "no object where one should be", err);
    while (status == MO_OK && mo_json_take_member(&c, &m) > 0)
        if (mo_json_key_is(&m, "Status")) {
            status = read_number(r, &m, &found->status, err);
        } else if (mo_json_key_is(&m, "SolCount")) {
            status = read_number(r, &m, &found->count, err);
        } else if (mo_json_key_is(&m, "ObjVal")) {
            solution->has_objective = true;
            status = read_number(r, &m, &solution->objective, err);
        } else if (mo_json_key_is(&m, "ObjBound")) {
            solution->has_bound = true;
            status = read_number(r, &m, &solution->bound, err);
        }
    return status;
}

static mo_status read_variable(mo_solfmt_reader *r, const mo_json_member *item,
                               mo_error *err)
{
    mo_solfmt_token name = { 0 };
    bool has_value = false;
    double value = 0;
    mo_status status = MO_OK;
    mo_json_cursor c;
    mo_json_member m;

    if (!mo_json_open(&c, '{', item->value, item->value_length))
        return mo_solfmt_fail_at(r, item->value,
                                 "no object where one should be", err);
    while (status == MO_OK && mo_json_take_member(&c, &m) > 0)
        if (mo_json_key_is(&m, "VarName")) {
            status =
                mo_solfmt_json_string(r, m.value, m.value_length, &name, err);
        } else if (mo_json_key_is(&m, "X")) {
            has_value = true;
            status = read_number(r, &m, &value, err);
        }
    if (status != MO_OK)
        return status;
    if (name.length == 0 || !has_value)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, 0,
                          "variable %zu of Vars has no VarName or no X",
                          r->n + 1);
    return mo_solfmt_add_value(r, &name, value, err);
}

static mo_status read_variables(mo_solfmt_reader *r, const mo_json_member *part,
                                info *found, mo_error *err)
{
    mo_status status = MO_OK;
    mo_json_cursor c;
    mo_json_member item;

    found->has_vars = true;
    if (!mo_json_open(&c, '[', part->value, part->value_length))
        return mo_solfmt_fail_at(r, part->value, "no array where one should be",
                                 err);
    while (status == MO_OK && mo_json_take_item(&c, &item) > 0)
        status = read_variable(r, &item, err);
    return status;
}

static mo_status read_gurobi_json(mo_solfmt_reader *r, mo_error *err)
{
    info found = { .count = 1 };
    mo_status status = MO_OK;
    size_t length = (size_t) (r->end - r->at);
    mo_json_cursor c;
    mo_json_member m;

    if (!mo_json_check(&c, r->at, length))
        return mo_solfmt_fail_at(r, c.at, c.fault, err);
    mo_json_open(&c, '{', r->at, length);
    while (status == MO_OK && mo_json_take_member(&c, &m) > 0)
        if (mo_json_key_is(&m, "SolutionInfo"))
            status = read_info(r, &m, &found, err);
        else if (mo_json_key_is(&m, "Vars"))
            status = read_variables(r, &m, &found, err);
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
