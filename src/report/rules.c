/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rules.h"

#include "solvers/answer/answer.h"

static const char *const source_names[] = { [MO_RULE_UNSPECIFIED] = "",
                                            [MO_RULE_DEFAULT] = "default",
                                            [MO_RULE_SOLUTION] = "solution",
                                            [MO_RULE_MODEL] = "model",
                                            [MO_RULE_GIVEN] = "given" };

/* One source in common is named once, at the end. */
static void put_source(mo_rule_source source, mo_out *out)
{
    static const char *const texts[] = {
        [MO_RULE_UNSPECIFIED] = "",
        [MO_RULE_DEFAULT] = " (default)",
        [MO_RULE_SOLUTION] = " (from the solution)",
        [MO_RULE_MODEL] = " (from the model)",
        [MO_RULE_GIVEN] = " (given)",
    };

    mo_out_text(out, texts[source]);
}

void mo_report_rules_text(const mo_regime *regime, const mo_report_rules *from,
                          mo_out *out)
{
    bool alike =
        from->congestion == from->tensors && from->tensors == from->memory;

    mo_out_printf(out, "%-12scongestion %s", "rules",
                  mo_congestion_names[regime->congestion]);
    if (!alike)
        put_source(from->congestion, out);
    mo_out_printf(out, ", tensors %s", mo_tensors_names[regime->tensors]);
    if (!alike)
        put_source(from->tensors, out);
    mo_out_printf(out, ", memory %s", mo_memory_names[regime->memory]);
    put_source(from->memory, out);
    mo_out_text(out, "\n");
    if (from->tolerance > 0 && from->tolerance != MO_ANSWER_TOLERANCE)
        mo_out_printf(out, "%-12s%g (given)\n", "tolerance", from->tolerance);
}

void mo_report_rules_json(const mo_regime *regime, const mo_report_rules *from,
                          mo_json_writer *w)
{
    mo_json_put_text(w, "congestion", mo_congestion_names[regime->congestion]);
    mo_json_put_text(w, "tensors", mo_tensors_names[regime->tensors]);
    mo_json_put_text(w, "memory", mo_memory_names[regime->memory]);
    if (from->congestion != MO_RULE_UNSPECIFIED) {
        mo_json_begin_object(w, "rules_from", MO_JSON_INLINE);
        mo_json_put_text(w, "congestion", source_names[from->congestion]);
        mo_json_put_text(w, "tensors", source_names[from->tensors]);
        mo_json_put_text(w, "memory", source_names[from->memory]);
        mo_json_end(w);
    }
    if (from->tolerance > 0)
        mo_json_put_double(w, "tolerance", from->tolerance);
}
