#include <config.h>

#include "cli/solving.h"

#include <stdio.h>

#include "solvers/interrupt.h"

static mo_status solve_once(const mo_contest_options *options,
                            const char *model, const mo_workdir *folder,
                            bool presolve, mo_jury *jury, mo_contest *c,
                            mo_award *award, mo_error *err)
{
    mo_status status = mo_contest_find(options, false, jury->talk, c, err);

    c->presolve = presolve;
    if (status == MO_OK)
        status = mo_contest_run(options, model, jury->review.origin.unit_ns,
                                folder, jury->talk, mo_jury_hear, jury, c, err);
    if (status == MO_OK)
        mo_jury_award(jury, c, award);
    return status;
}

/* What was said cannot be true.  Presolve is where solvers go wrong; what they
 * say without it is not believed either while the doubt is there. */
mo_status mo_solving_run(const mo_contest_options *options, const char *model,
                         const mo_workdir *folder, mo_jury *jury, mo_contest *c,
                         mo_award *award, mo_error *err)
{
    const mo_talk *talk = jury->talk;
    mo_status status =
        solve_once(options, model, folder, true, jury, c, award, err);

    if (status != MO_OK || !award->doubt[0] || mo_interrupt_last())
        return status;
    if (!talk->quiet)
        fprintf(stderr, "%s: %s; solving again without presolve\n",
                talk->command, award->doubt);
    mo_contest_clear(c);
    status = solve_once(options, model, folder, false, jury, c, award, err);
    if (status == MO_OK && award->doubt[0] && !talk->quiet)
        fprintf(stderr, "%s: still: %s\n", talk->command, award->doubt);
    return status;
}
