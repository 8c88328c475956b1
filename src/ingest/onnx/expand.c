/* SPDX-License-Identifier: Apache-2.0 */
/* Functions inlined, branches taken or both computed, loops and scans of a
 * known count unrolled. */
#include "ingest/onnx/translate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MAX_EXPANDED = 1 << 10, MAX_ROUNDS = 64, MAX_SELECTED = 64 };
#else
enum {
    MAX_EXPANDED = 1 << 17, /* nodes of functions, branches and loops */
    MAX_ROUNDS = 4096,      /* of a loop */
    MAX_SELECTED = 1024     /* nodes of two branches that are both computed */
};
#endif

static mo_status count_expanded(mo_onnx_translation *t, size_t n)
{
    t->expanded += n;
    if (t->expanded <= MAX_EXPANDED)
        return MO_OK;
    return mo_fail_at(t->err, MO_E_LIMIT, t->file, 0,
                      "functions, branches and loops have more than %d nodes "
                      "when they are inlined",
                      MAX_EXPANDED);
}
/* A node of a function of the model: its body, with names of its own. */
mo_status mo_onnx_inline_function(mo_onnx_translation *t, mo_onnx_scope *around,
                                  mo_onnx_op *op, const mo_onnx_function *f)
{
    mo_onnx_scope scope = { .caller = around,
                            .call = op->node,
                            .function = f,
                            .opsets = f->opsets,
                            .n_opsets = f->n_opsets };
    mo_status status = count_expanded(t, f->n_nodes + 1);

    if (status == MO_OK)
        status = mo_onnx_scope_open(t, &scope);
    for (size_t i = 0; i < f->n_inputs && status == MO_OK; i++)
        status = mo_onnx_scope_bind(
            t, &scope, f->inputs[i],
            (mo_onnx_binding){ .value = mo_onnx_in(op, (int) i) });
    if (status == MO_OK)
        status = mo_onnx_translate_nodes(t, &scope, f->nodes, f->n_nodes);
    for (size_t i = 0; i < f->n_outputs && status == MO_OK; i++)
        if ((int) i < op->n_outputs)
            op->outputs[i] = mo_onnx_scope_result(t, &scope, f->outputs[i]);
    mo_onnx_scope_close(t, &scope);
    return status;
}

/* The body of a graph with its formal inputs bound; outputs go to results. */
static mo_status inline_graph(mo_onnx_translation *t, mo_onnx_scope *around,
                              const mo_onnx_graph *g, const mo_onnx_ref *inputs,
                              mo_onnx_ref *results, size_t n_results)
{
    mo_onnx_scope scope = { .outer = around,
                            .opsets = around->opsets,
                            .n_opsets = around->n_opsets,
                            .graph = g };
    mo_status status = count_expanded(t, g->n_nodes + 1);

    if (status == MO_OK)
        status = mo_onnx_scope_open(t, &scope);
    if (status == MO_OK)
        status = mo_onnx_scope_bind_weights(t, &scope, g);
    for (size_t i = 0; inputs && i < g->n_inputs && status == MO_OK; i++)
        status = mo_onnx_scope_bind(t, &scope, g->inputs[i].name,
                                    (mo_onnx_binding){ .value = inputs[i] });
    if (status == MO_OK)
        status = mo_onnx_translate_nodes(t, &scope, g->nodes, g->n_nodes);
    for (size_t i = 0; i < n_results && status == MO_OK; i++)
        results[i] = i < g->n_outputs
                         ? mo_onnx_scope_result(t, &scope, g->outputs[i].name)
                         : MO_ONNX_NONE;
    mo_onnx_scope_close(t, &scope);
    return status;
}

/* Known to be true or false; -1: not known. */
static int known_truth(const mo_onnx_builder *b, mo_onnx_ref value)
{
    const mo_infer_value *known = mo_onnx_known(b, value);

    return known && known->count == 1 ? known->items[0].i != 0 : -1;
}

/* Selects each output from those of the branches, which were computed both.
 * Refuses outputs of different types or shapes. */
static void select_outputs(mo_onnx_op *op, const mo_onnx_ref *yes,
                           const mo_onnx_ref *no)
{
    static const mo_shape scalar = { .rank = 0 };
    mo_onnx_builder *b = op->b;
    mo_onnx_ref condition = mo_onnx_reshape(b, mo_onnx_in(op, 0), &scalar);

    for (int i = 0; i < op->n_outputs; i++) {
        if (!mo_onnx_is(yes[i]) || !mo_onnx_is(no[i]) ||
            strcmp(mo_onnx_dtype(b, yes[i]), mo_onnx_dtype(b, no[i])) != 0 ||
            !mo_shape_equal(mo_onnx_shape(b, yes[i]), mo_onnx_shape(b, no[i])))
            mo_onnx_refuse(b,
                           "its condition is not known before it runs, and its "
                           "branches differ in the shape of output %d; --value "
                           "fixes the value of an input",
                           i);
        else
            op->outputs[i] = mo_onnx_select(b, condition, yes[i], no[i]);
    }
}

/* An If whose condition depends on data: branches have no side effects. Nodes
 * in them that cannot be translated make the If one of these. */
static mo_status compute_both(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op, const mo_onnx_graph *yes,
                              const mo_onnx_graph *no)
{
    const mo_onnx_translation before = *t;
    size_t n = (size_t) op->n_outputs;
    mo_onnx_ref *results;
    mo_status status;

    if (yes->n_nodes + no->n_nodes > MAX_SELECTED) {
        mo_onnx_refuse(t->b,
                       "its condition is not known before it runs, and its "
                       "branches have more than %d nodes; --value fixes the "
                       "value of an input",
                       MAX_SELECTED);
        return MO_OK;
    }
    results = calloc(2 * n + 1, sizeof *results);
    status = results ? inline_graph(t, scope, yes, NULL, results, n)
                     : mo_fail_memory(t->err);
    if (status == MO_OK)
        status = inline_graph(t, scope, no, NULL, results + n, n);
    if (status == MO_OK && t->n_missing > before.n_missing) {
        memcpy(t->missing, before.missing, sizeof t->missing);
        t->n_missing = before.n_missing;
        t->lacks_shapes = before.lacks_shapes;
        mo_onnx_refuse(t->b, "its condition is not known before it runs, and "
                             "its branches cannot be computed both; --value "
                             "fixes the value of an input");
    } else if (status == MO_OK) {
        select_outputs(op, results, results + n);
    }
    free(results);
    return status;
}

mo_status mo_onnx_take_branch(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op)
{
    int truth = known_truth(t->b, mo_onnx_in(op, 0));
    const mo_onnx_attribute *yes = mo_onnx_attr(op, "then_branch");
    const mo_onnx_attribute *no = mo_onnx_attr(op, "else_branch");

    if (!mo_onnx_has(op, 0))
        mo_onnx_wrong(t->b, "has no condition");
    else if (!yes || !yes->g || !no || !no->g)
        mo_onnx_wrong(t->b, "has no branch");
    else if (truth < 0)
        return compute_both(t, scope, op, yes->g, no->g);
    else
        return inline_graph(t, scope, truth ? yes->g : no->g, NULL, op->outputs,
                            (size_t) op->n_outputs);
    return MO_OK;
}

/* Stacks the values of the rounds along a new axis, the last one first where
 * they are prepended. */
static mo_onnx_ref stack_rounds(mo_onnx_builder *b, const mo_onnx_ref *rounds,
                                int n, size_t step, int64_t axis, bool prepend)
{
    mo_onnx_ref *parts = calloc((size_t) n + 1, sizeof *parts), stacked;
    int rank = mo_onnx_shape(b, rounds[0])->rank + 1;
    mo_onnx_ref at;

    if (!parts)
        return mo_onnx_fail_memory(b);
    if (axis < -rank || axis >= rank)
        mo_onnx_wrong(b, "stacks along axis %lld of %d", (long long) axis,
                      rank);
    axis = axis < 0 ? axis + rank : axis;
    at = mo_onnx_ints(b, &axis, 1);
    for (int i = 0; i < n; i++)
        parts[prepend ? n - 1 - i : i] = mo_onnx_add(
            b, "Unsqueeze",
            (const mo_onnx_ref[]){ rounds[(size_t) i * step], at }, 2, NULL);
    mo_onnx_set_int(b, "axis", axis);
    stacked = mo_onnx_add(b, "Concat", parts, n, NULL);
    free(parts);
    return stacked;
}

/* Outputs of a Loop: the carried values at its end, and the stacked ones of n
 * rounds with step values each. */
static void set_loop_outputs(mo_onnx_op *op, const mo_onnx_ref *values,
                             size_t carried, const mo_onnx_ref *rounds, int n,
                             size_t step)
{
    for (size_t i = 0; i + 1 < step && (int) i < op->n_outputs; i++) {
        if (i < carried)
            op->outputs[i] = values[i];
        else if (n > 0)
            op->outputs[i] =
                stack_rounds(op->b, rounds + 1 + i, n, step, 0, false);
        else
            mo_onnx_refuse(op->b, "has no rounds, and outputs to stack");
    }
}

/* A Loop of a known count, or whose condition is known in every round,
 * unrolled. Its graph has the round, the condition and the carried values as
 * inputs; the condition, the carried values and the values to stack as outputs.
 */
mo_status mo_onnx_unroll_loop(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op)
{
    const mo_onnx_attribute *body = mo_onnx_attr(op, "body");
    int64_t count = mo_onnx_in_int(op, 0, "trip count", INT64_MAX);
    size_t carried = op->n_inputs > 2 ? (size_t) op->n_inputs - 2 : 0;
    int truth = mo_onnx_has(op, 1) ? known_truth(t->b, op->inputs[1]) : 1;
    mo_onnx_ref *inputs, *rounds;
    size_t step = body && body->g ? body->g->n_outputs : 0;
    mo_status status = MO_OK;
    int n = 0, most;

    if (mo_onnx_builder_status(t->b) != MO_OK)
        return MO_OK;
    if (step < carried + 1 || body->g->n_inputs != carried + 2) {
        mo_onnx_wrong(t->b, "has a body with other inputs or outputs");
        return MO_OK;
    }
    if (truth < 0) {
        mo_onnx_refuse(t->b, "whether it begins is not known before it runs");
        return MO_OK;
    }
    most = (int) (count < 0 ? 0 : count > MAX_ROUNDS ? MAX_ROUNDS : count);
    inputs = calloc(carried + 2, sizeof *inputs);
    rounds = calloc(((size_t) most + 1) * step, sizeof *rounds);
    if (!inputs || !rounds)
        status = mo_fail_memory(t->err);
    for (size_t i = 0; i < carried && status == MO_OK; i++)
        inputs[2 + i] = op->inputs[2 + i];
    while (status == MO_OK && n < most && truth == 1) {
        mo_onnx_ref *results = rounds + (size_t) n * step;
        double yes = 1;

        inputs[0] = mo_onnx_int(t->b, n);
        inputs[1] =
            mo_onnx_numbers(t->b, &yes, &(mo_shape){ .rank = 0 }, "boolean");
        status = inline_graph(t, scope, body->g, inputs, results, step);
        n++;
        if (status != MO_OK || mo_onnx_builder_status(t->b) != MO_OK)
            break;
        truth = known_truth(t->b, results[0]);
        if (truth < 0)
            mo_onnx_refuse(t->b, "when it ends is not known before it runs");
        for (size_t i = 0; i < carried; i++)
            inputs[2 + i] = results[1 + i];
    }
    if (n < count && truth == 1 && mo_onnx_builder_status(t->b) == MO_OK)
        mo_onnx_refuse(t->b, "has more than %d rounds", MAX_ROUNDS);
    if (status == MO_OK)
        set_loop_outputs(op, inputs + 2, carried, rounds, n, step);
    free(inputs);
    free(rounds);
    return status;
}

/* Number i of a list; 0 where there is none. */
static int64_t listed(const mo_onnx_list *list, size_t i)
{
    return (int) i < list->n ? list->at[i] : 0;
}

/* Slice number round of x along an axis, without the axis. */
static mo_onnx_ref take_slice(mo_onnx_builder *b, mo_onnx_ref x, int64_t axis,
                              int64_t round)
{
    const mo_shape *old = mo_onnx_shape(b, x);
    int rank = old->rank;
    bool marks[MO_MAX_RANK] = { false };

    if (axis < -rank || axis >= rank)
        return mo_onnx_wrong(b, "scans along axis %lld of %d", (long long) axis,
                             rank);
    axis = axis < 0 ? axis + rank : axis;
    if (round < 0 || round >= old->dims[axis])
        return mo_onnx_wrong(b, "scans inputs of different lengths");
    marks[axis] = true;
    return mo_onnx_squeeze(b, mo_onnx_cut(b, x, (int) axis, round, round + 1),
                           marks);
}

/* The rounds of a Scan: as long as its first scanned input; 0 where it has no
 * such axis. */
static int64_t count_slices(const mo_onnx_builder *b, mo_onnx_ref x,
                            int64_t axis)
{
    const mo_shape *shape = mo_onnx_shape(b, x);

    axis = axis < 0 ? axis + shape->rank : axis;
    return axis >= 0 && axis < shape->rank ? shape->dims[axis] : 0;
}

/* A Scan since opset 9, unrolled: its graph has states and slices as inputs,
 * states and values to stack as outputs. */
mo_status mo_onnx_unroll_scan(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op)
{
    const mo_onnx_attribute *body = mo_onnx_attr(op, "body");
    int64_t scanned = mo_onnx_attr_int(op, "num_scan_inputs", 0), n;
    mo_onnx_list in_axes = mo_onnx_attr_ints(op, "scan_input_axes");
    mo_onnx_list in_ways = mo_onnx_attr_ints(op, "scan_input_directions");
    mo_onnx_list out_axes = mo_onnx_attr_ints(op, "scan_output_axes");
    mo_onnx_list out_ways = mo_onnx_attr_ints(op, "scan_output_directions");
    size_t all = (size_t) op->n_inputs, step, states;
    mo_onnx_ref *inputs, *rounds;
    mo_status status = MO_OK;

    if (op->version < 9) {
        mo_onnx_refuse(t->b, "scans batches, as before opset 9");
        return MO_OK;
    }
    step = body && body->g ? body->g->n_outputs : 0;
    if (scanned < 1 || (size_t) scanned > all || step == 0 ||
        body->g->n_inputs != all || step < all - (size_t) scanned) {
        mo_onnx_wrong(t->b, "has a body with other inputs or outputs");
        return MO_OK;
    }
    states = all - (size_t) scanned;
    n = count_slices(t->b, op->inputs[states], listed(&in_axes, 0));
    if (n < 1 || n > MAX_ROUNDS) {
        mo_onnx_refuse(t->b, "has %lld rounds, not 1 to %d", (long long) n,
                       MAX_ROUNDS);
        return MO_OK;
    }
    inputs = calloc(all + 1, sizeof *inputs);
    rounds = calloc((size_t) n * step, sizeof *rounds);
    if (!inputs || !rounds)
        status = mo_fail_memory(t->err);
    for (size_t i = 0; i < states && status == MO_OK; i++)
        inputs[i] = op->inputs[i];
    for (int64_t k = 0;
         k < n && status == MO_OK && mo_onnx_builder_status(t->b) == MO_OK;
         k++) {
        mo_onnx_ref *results = rounds + (size_t) k * step;

        for (size_t i = states; i < all; i++)
            inputs[i] =
                take_slice(t->b, op->inputs[i], listed(&in_axes, i - states),
                           listed(&in_ways, i - states) ? n - 1 - k : k);
        if (mo_onnx_builder_status(t->b) == MO_OK)
            status = inline_graph(t, scope, body->g, inputs, results, step);
        for (size_t i = 0; i < states; i++)
            inputs[i] = results[i];
    }
    for (size_t i = 0; i < step && (int) i < op->n_outputs; i++)
        if (status == MO_OK && mo_onnx_builder_status(t->b) == MO_OK)
            op->outputs[i] =
                i < states ? inputs[i]
                           : stack_rounds(t->b, rounds + i, (int) n, step,
                                          listed(&out_axes, i - states),
                                          listed(&out_ways, i - states) != 0);
    free(inputs);
    free(rounds);
    return status;
}
