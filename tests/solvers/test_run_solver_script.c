/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/run_solver.h: programs that misbehave, and command
 * templates. */
#include <config.h>

#include "solvers/run_solver.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/solvers/run_case.h"
#include "tests/support/scratch.h"
#include "tests/solvers/solution_case.h"
#include "tests/support/suite.h"

/* CBC's plug-in with a script in the place of CBC. */
static void run_script(const char *script, const mo_solver_job *job,
                       mo_solver_outcome *outcome)
{
    const mo_solver_run_options options = { .way = MO_SOLVER_VIA_PROCESS,
                                            .grace_s = 0.3 };
    char program[4300];
    mo_solver_install found = { .program = program };

    snprintf(program, sizeof program, "%s/../cbc", run_folder);
    scratch_write("cbc", script);
    ck_assert_int_eq(chmod("cbc", 0700), 0);
    scratch_write("small.lp", run_small_lp);
    MUST(mo_solver_run(&mo_solver_cbc, &found, job, &options, outcome, &err));
}

static const struct {
    const char *script;
    double time_s;
    const char *text; /* expected in the outcome's text */
} misbehaviours[] = {
    { "#!/bin/sh\nexit 0\n", 0, "exit code 0 and no answer" },
    { "#!/bin/sh\nexit 3\n", 0, "exit code 3 and no answer" },
    { "#!/bin/sh\necho 'ERROR: no licence'; exit 1\n", 0, "ERROR: no licence" },
    { "#!/bin/sh\nkill -SEGV $$\n", 0, "signal 11" },
    { "#!/bin/sh\nkill -KILL $$\n", 0, "signal 9" },
    { "#!/bin/sh\ntrap '' INT; sleep 60\n", 0.3, "was killed after" },
    { "#!/bin/sh\necho rubbish >solution.sol\n", 0, "cannot be read" },
    { "#!/bin/sh\n: >solution.sol\n", 0, "cannot be read" },
    { "#!/bin/sh\nhead -c 100000 /dev/zero >solution.sol\n", 0,
      "cannot be read" },
    { "#!/bin/sh\nprintf 'Optimal - objective value 4.75\\n 0 w 4.' "
      ">solution.sol; kill -KILL $$\n",
      0, "cannot be read" },
    { "#!/bin/sh\nyes | head -c 10000000\n", 0, "no answer" },
    { "#!/bin/sh\nprintf 'Stopped on time (no integer solution - continuous "
      "used) - objective value 0.5\\n 0 w 0.5 0\\n' >solution.sol\n",
      0, "no solution" },
};

START_TEST(misbehaviour_is_an_outcome)
{
    mo_solver_job job = run_job("small.lp");
    mo_solver_outcome outcome;

    job.time_s = misbehaviours[_i].time_s;
    run_script(misbehaviours[_i].script, &job, &outcome);
    ck_assert_int_eq(outcome.claim, MO_SOLUTION_STATUS_NO_SOLUTION);
    ck_assert_msg(!outcome.solution || outcome.solution->n == 0, "%s",
                  outcome.text);
    ck_assert_msg(strstr(outcome.text, misbehaviours[_i].text) != NULL,
                  "'%s' has no '%s'", outcome.text, misbehaviours[_i].text);
    ck_assert_ptr_null(strchr(outcome.text, '\n'));
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(a_program_that_is_gone_is_an_outcome)
{
    const mo_solver_run_options options = { .way = MO_SOLVER_VIA_PROCESS };
    mo_solver_job job = run_job("small.lp");
    char program[] = "/there/is/no/such/program";
    const mo_solver_install found = { .program = program };
    mo_solver_outcome outcome;

    scratch_write("small.lp", run_small_lp);
    MUST(mo_solver_run(&mo_solver_cbc, &found, &job, &options, &outcome, &err));
    ck_assert_int_eq(outcome.end, MO_CHILD_NOT_STARTED);
    ck_assert_ptr_nonnull(strstr(outcome.text, "cannot be started"));
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(an_old_answer_is_not_taken_for_a_new_one)
{
    mo_solver_job job = run_job("small.lp");
    mo_solver_outcome outcome;

    scratch_write("job/solution.sol", "Optimal - objective value 4.75\n"
                                      "      0 w 4.75 0\n");
    run_script("#!/bin/sh\nexit 0\n", &job, &outcome);
    ck_assert_ptr_null(outcome.solution);
    ck_assert_int_eq(outcome.claim, MO_SOLUTION_STATUS_NO_SOLUTION);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(a_command_is_filled_in_and_run)
{
    mo_solver_job job = run_job("it's a \"model\" $(touch bad).lp");
    const mo_solver_run_options options = {
        .way = MO_SOLVER_VIA_COMMAND,
        .command = "test -s {model} && test {time}{gap}{threads} = 701 && "
                   "echo 'Cbc0010I After 0 nodes, 1 on tree, 5 best solution, "
                   "best possible 4 (0.15 seconds)' && "
                   "printf '=obj= 5\\nw 5\\n' >{solution}"
    };
    mo_solver_outcome outcome;

    scratch_write(job.model, run_small_lp);
    job.time_s = 7;
    MUST(mo_solver_run(NULL, NULL, &job, &options, &outcome, &err));
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_FEASIBLE, "%s",
                  outcome.text);
    ck_assert_double_eq_tol(solution_value(outcome.solution, "w"), 5, 1e-9);
    ck_assert(outcome.has_bound);
    ck_assert_double_eq_tol(outcome.bound, 4, 1e-3);
    ck_assert_int_ne(access("bad", F_OK), 0);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

static const struct {
    const char *command, *text;
} refused[] = {
    { "solve -o {solution}", "{model}" },
    { "solve {model}", "{solution}" },
    { "solve '{model}' {solution}", "quotes" },
    { "solve \"\\\"{model}\" {solution}", "quotes" },
    { "solve 'a\\' {model} '{solution}'", "quotes" },
};

START_TEST(a_command_that_cannot_be_filled_is_an_error)
{
    const mo_solver_run_options options = { .way = MO_SOLVER_VIA_COMMAND,
                                            .command = refused[_i].command };
    mo_solver_job job = run_job("small.lp");
    mo_solver_outcome outcome;
    mo_error err;

    scratch_write("small.lp", run_small_lp);
    ck_assert_int_eq(mo_solver_run(NULL, NULL, &job, &options, &outcome, &err),
                     MO_E_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].text) != NULL, "%s", err.text);
}
END_TEST

SUITE(run_solver_script)
{
    tcase_add_checked_fixture(tests, run_enter, scratch_leave);
    EACH(misbehaviour_is_an_outcome, COUNT(misbehaviours));
    TEST(a_program_that_is_gone_is_an_outcome);
    TEST(an_old_answer_is_not_taken_for_a_new_one);
    TEST(a_command_is_filled_in_and_run);
    EACH(a_command_that_cannot_be_filled_is_an_error, COUNT(refused));
}
