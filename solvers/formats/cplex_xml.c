/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of CPLEX's XML solution file, and other files of its schema:
 *
 *     <CPLEXSolution version="1.2">
 *      <header objectiveValue="30" solutionStatusValue="101" .../>
 *      <variables>
 *       <variable name="x_0_1" index="0" value="1"/>
 *
 * Of a pool (<CPLEXSolutions>) the first is read, which is the incumbent.
 */
#include "solvers/formats/solfmt.h"

#include <string.h>

#include "base/arena.h"
#include "ingest/xml.h"

static bool sniff_cplex(const char *text)
{
    return *text == '<';
}

/* The codes of CPXgetstat with a known meaning. */
static const struct {
    int code;
    mo_solution_status claim;
} statuses[] = {
    { 1, MO_SOLUTION_STATUS_OPTIMAL },
    { 2, MO_SOLUTION_STATUS_UNBOUNDED },
    { 3, MO_SOLUTION_STATUS_INFEASIBLE },
    { 4, MO_SOLUTION_STATUS_UNBOUNDED },
    { 101, MO_SOLUTION_STATUS_OPTIMAL },
    { 102, MO_SOLUTION_STATUS_OPTIMAL },
    { 103, MO_SOLUTION_STATUS_INFEASIBLE },
    { 104, MO_SOLUTION_STATUS_FEASIBLE },
    { 105, MO_SOLUTION_STATUS_FEASIBLE },
    { 106, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 107, MO_SOLUTION_STATUS_FEASIBLE },
    { 108, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 109, MO_SOLUTION_STATUS_FEASIBLE },
    { 110, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 111, MO_SOLUTION_STATUS_FEASIBLE },
    { 112, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 113, MO_SOLUTION_STATUS_FEASIBLE },
    { 114, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 116, MO_SOLUTION_STATUS_FEASIBLE },
    { 117, MO_SOLUTION_STATUS_NO_SOLUTION },
    { 118, MO_SOLUTION_STATUS_UNBOUNDED },
    { 119, MO_SOLUTION_STATUS_UNBOUNDED },
    { 127, MO_SOLUTION_STATUS_FEASIBLE },
    { 128, MO_SOLUTION_STATUS_FEASIBLE },
    { 129, MO_SOLUTION_STATUS_OPTIMAL },
    { 130, MO_SOLUTION_STATUS_OPTIMAL },
    { 131, MO_SOLUTION_STATUS_FEASIBLE },
    { 132, MO_SOLUTION_STATUS_NO_SOLUTION },
};

static mo_solution_status status_of(double code)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == code)
            return statuses[i].claim;
    return MO_SOLUTION_STATUS_UNKNOWN;
}

typedef struct document {
    mo_solfmt_reader *r;
    bool has_variables;
    int solutions; /* seen so far */
} document;

/* Parses an attribute as a number; *has: it is present. Too many digits are an
 * error. */
static mo_status read_number(document *d, const mo_xml_element *element,
                             const char *name, bool *has, double *value,
                             mo_error *err)
{
    const mo_xml_attribute *found = mo_xml_find(element, name);
    mo_solfmt_token word;
    char text[64];

    *has = found != NULL;
    if (!found)
        return MO_OK;
    d->r->line = element->line;
    word.length = found->length < sizeof text ? found->length : 0;
    word.at = memcpy(text, found->value, word.length);
    return mo_solfmt_parse_number(d->r, &word, name, value, err);
}

static mo_status start_element(void *state, const mo_xml_element *element,
                               mo_error *err)
{
    document *d = state;

    if (strcmp(element->name, "CPLEXSolution") == 0)
        d->solutions++;
    if (element->depth == 0) {
        if (strcmp(element->name, "CPLEXSolution") == 0 ||
            strcmp(element->name, "CPLEXSolutions") == 0)
            return MO_OK;
        return mo_fail_at(
            err, MO_E_SYNTAX, d->r->file, element->line,
            "is XML, but no solution of CPLEX: its root is <%.80s>%s",
            element->name,
            strcmp(element->name, "graphml") == 0
                ? "; it is a graph: give it with --graph"
                : "");
    }
    if (d->solutions != 1)
        return MO_OK;
    if (strcmp(element->name, "header") == 0) {
        double objective, code, feasible;
        bool has;
        mo_status status =
            read_number(d, element, "objectiveValue", &has, &objective, err);

        if (status == MO_OK && has)
            mo_solfmt_set_objective(d->r, objective);
        if (status == MO_OK)
            status = read_number(d, element, "solutionStatusValue", &has, &code,
                                 err);
        if (status == MO_OK && has)
            mo_solfmt_set_claim(d->r, status_of(code));
        if (status == MO_OK)
            status =
                read_number(d, element, "primalFeasible", &has, &feasible, err);
        if (status == MO_OK && has && feasible == 0)
            mo_solfmt_set_claim(d->r, MO_SOLUTION_STATUS_NO_SOLUTION);
        return status;
    }
    if (strcmp(element->name, "variables") == 0)
        d->has_variables = true;
    if (strcmp(element->name, "variable") == 0) {
        const mo_xml_attribute *name = mo_xml_find(element, "name");
        mo_solfmt_token word;
        double value;
        bool has;
        mo_status status = read_number(d, element, "value", &has, &value, err);

        if (status != MO_OK)
            return status;
        if (!has || !name || name->length == 0)
            return mo_fail_at(err, MO_E_SYNTAX, d->r->file, element->line,
                              "a variable without a name or a value");
        word.length = name->length;
        word.at =
            mo_arena_text(d->r->solution->arena, name->value, name->length);
        if (!word.at)
            return mo_fail_memory(err);
        d->r->line = 0;
        return mo_solfmt_add_value(d->r, &word, value, err);
    }
    return MO_OK;
}

static mo_status end_element(void *state, const char *name, const char *text,
                             size_t length, int line, mo_error *err)
{
    (void) state, (void) name, (void) text, (void) length, (void) line;
    (void) err;
    return MO_OK;
}

static mo_status read_cplex(mo_solfmt_reader *r, mo_error *err)
{
    static const mo_xml_handler handler = { start_element, end_element };
    document d = { .r = r };
    mo_xml *xml = NULL;
    mo_solution_status *claim = &r->solution->claim;
    mo_status status = mo_xml_parse_memory(
        r->file, r->at, (size_t) (r->end - r->at), &handler, &d, &xml, err);

    if (status == MO_OK && !d.has_variables &&
        (*claim == MO_SOLUTION_STATUS_UNKNOWN ||
         *claim == MO_SOLUTION_STATUS_OPTIMAL ||
         *claim == MO_SOLUTION_STATUS_FEASIBLE))
        return mo_fail_at(err, MO_E_SYNTAX, r->file, 0,
                          "has no <variables>, so it holds no solution");
    return status;
}

const mo_solfmt mo_solfmt_cplex = { "cplex", "CPLEX (XML)", sniff_cplex,
                                    read_cplex };
