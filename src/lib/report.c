/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the library: the page of moirai-report in its formats. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "driver/report/solution_page.h"
#include "lib/handles.h"

static mo_status choose_methods(const mo_lib_settings *s, const mo_review *r,
                                mo_solution_page_options *options,
                                mo_error *err)
{
    const mo_option_list *names = &s->report_methods;
    mo_place_options place = s->place;

    if (names->count == 0)
        return mo_solution_page_defaults(r, options, err);
    if (names->count == 1 && strcmp(names->items[0], "none") == 0)
        return MO_OK;
    place.methods = *names;
    return mo_place_select_methods(&place, &options->methods,
                                   &options->n_methods, err);
}

moirai_status moirai_report(const moirai_placement *placement,
                            const moirai_options *options, const char *path,
                            moirai_write_fn *write, void *context,
                            moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_lib_settings *s = mo_lib_settings_of(options);
    const mo_driver_log logger = mo_lib_log(options);
    const char *name = *placement->method ? placement->method : "placement";
    mo_solution_page_options page = { .trace = s->trace,
                                      .ablation = !s->no_ablation,
                                      .logger = &logger };
    mo_review review = mo_lib_instance_review(placement->instance);
    mo_solution_page made = { 0 };
    mo_out *out = NULL;
    mo_status status;

    review.origin.in_flight = placement->instance->in_flight;
    /* Borrowed: the review is not cleared. */
    review.evaluation = placement->evaluation;
    review.evaluation.lower.bound_ns = placement->bound_ns;
    review.evaluation.lower.which = placement->bound_by;
    status = mo_lib_placement_check_single(placement, e);
    if (status == MO_OK)
        status = choose_methods(s, &review, &page, e);
    if (status == MO_OK)
        status = mo_lib_open_output(path, write, context, &out, e);
    if (status == MO_OK)
        status = mo_solution_page_make(&page, &review, &name, 1, &made, e);
    if (status == MO_OK)
        status = mo_solution_page_write(&made.page, s->format, path,
                                        (int) s->columns, out, e);
    status = mo_lib_close_output(out, status, e);
    mo_solution_page_clear(&made);
    free(page.methods);
    return mo_lib_status(status);
}
