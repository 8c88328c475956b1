/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/transport/rendezvous/launch.h and transport.h: rank, address
 * and transport by the environment. */
#include <config.h>

#include "exec/transport/rendezvous/launch.h"

#include "exec/transport/transport.h"
#include "tests/support/suite.h"

/* All variables that are read. */
static const char *const variables[] = {
    "MOIRAI_RANK",
    "MOIRAI_RANKS",
    "MOIRAI_MASTER",
    "MOIRAI_TOKEN",
    "MOIRAI_BIND",
    "MOIRAI_TRANSPORT",
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "MOIRAI_OPEN",
    "MOIRAI_PLAIN",
    "MOIRAI_TLS_CERT",
    "MOIRAI_TLS_KEY",
    "MOIRAI_TLS_CA",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMI_SIZE",
    "OMPI_MCA_ess_base_jobid",
    "PMI_RANK",
    "MPI_LOCALNRANKS",
    "PMI_JOBID",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_PROCID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_STEP_NUM_NODES",
    "SLURM_STEP_NODELIST",
    "SLURM_NODELIST",
};

/* "A=1 B=2" */
static void set_variables(const char *text)
{
    char copy[512], *name;

    for (int i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    snprintf(copy, sizeof copy, "%s", text);
    for (name = strtok(copy, " "); name; name = strtok(NULL, " ")) {
        char *value = strchr(name, '=');

        *value = '\0';
        setenv(name, value + 1, 1);
    }
}

#define TORCHRUN "RANK=2 WORLD_SIZE=4 MASTER_ADDR=tau MASTER_PORT=29500"
#define MPIRUN   "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1"
#define ONE_HOST MPIRUN " OMPI_COMM_WORLD_LOCAL_SIZE=3"
#define SRUN     "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3 SLURM_JOB_ID=100"
#define PLAIN                                                                  \
    {                                                                          \
        0                                                                      \
    }

static const struct {
    const char *variables;
    mo_rdv_launch_options told;
    int rank, n_ranks;
    const char *host; /* "" at an abstract socket, NULL: none */
    int port;
    const char *token;
    const char *transport; /* with MPI built in */
} found[] = {
    { "", PLAIN, 0, 1, NULL, 0, "", "local" },
    { "MOIRAI_RANK=1 MOIRAI_RANKS=2", PLAIN, 1, 2, "127.0.0.1",
      MO_RDV_DEFAULT_PORT, "", "tcp" },
    { "MOIRAI_RANK=1 MOIRAI_RANKS=2 MOIRAI_MASTER=tau:99 MOIRAI_TOKEN=t", PLAIN,
      1, 2, "tau", 99, "t", "tcp" },
    /* Each option overrides its variable. */
    { "MOIRAI_RANK=1 MOIRAI_RANKS=4 MOIRAI_MASTER=tau:99 MOIRAI_TOKEN=t",
      { .has_rank = true, .master = "[::1]:7", .token = "u" },
      0,
      4,
      "::1",
      7,
      "u",
      "tcp" },
    { TORCHRUN,
      { .has_rank = true, .rank = 1, .n_ranks = 2 },
      1,
      2,
      "127.0.0.1",
      MO_RDV_DEFAULT_PORT,
      "",
      "tcp" },
    { TORCHRUN, PLAIN, 2, 4, "tau", 29500, "", "tcp" },
    { TORCHRUN " TORCHELASTIC_RUN_ID=run7", PLAIN, 2, 4, "tau", 29501, "run7",
      "tcp" },
    { TORCHRUN " " MPIRUN, PLAIN, 2, 4, "tau", 29500, "", "tcp" },
    { "RANK=0 WORLD_SIZE=1", PLAIN, 0, 1, NULL, 0, "", "local" },
    /* Half of torchrun's variables come from elsewhere. */
    { "RANK=5", PLAIN, 0, 1, NULL, 0, "", "local" },
    { ONE_HOST " OMPI_MCA_ess_base_jobid=77", PLAIN, 1, 3, "", 0, "77", "mpi" },
    { ONE_HOST, PLAIN, 1, 3, "127.0.0.1", MO_RDV_DEFAULT_PORT, "", "mpi" },
    { MPIRUN " MOIRAI_MASTER=tau", PLAIN, 1, 3, "tau", MO_RDV_DEFAULT_PORT, "",
      "tcp" },
    { SRUN " SLURM_STEP_NODELIST=gpu[03-07,9],login SLURM_STEP_ID=2", PLAIN, 3,
      4, "gpu03", 15000 + 3102, "100", "mpi" },
    { SRUN " SLURM_STEP_NUM_NODES=1", PLAIN, 3, 4, "", 0, "100", "mpi" },
    { "OMPI_COMM_WORLD_SIZE=1", PLAIN, 0, 1, NULL, 0, "", "local" },
};

START_TEST(a_process_knows_its_rank)
{
    const mo_transport *transport;
    const char *wanted = found[_i].transport;
    bool has_mpi = false;
    mo_rdv_params job;

    set_variables(found[_i].variables);
    MUST(mo_rdv_params_resolve(&found[_i].told, &job, &err));
    ck_assert_int_eq(job.rank, found[_i].rank);
    ck_assert_int_eq(job.n_ranks, found[_i].n_ranks);
    ck_assert_str_eq(job.token, found[_i].token);
    if (found[_i].host)
        ck_assert_str_eq(job.host, found[_i].host);
    if (found[_i].host && *found[_i].host)
        ck_assert_int_eq(job.port, found[_i].port);
    if (found[_i].host && !*found[_i].host)
        ck_assert_int_gt((int) strlen(job.name), 0);
    for (int i = 0; mo_transport_table[i]; i++)
        has_mpi |= strcmp(mo_transport_table[i]->name, "mpi") == 0;
    if (!has_mpi && strcmp(wanted, "mpi") == 0)
        wanted = "tcp";
    MUST(mo_transport_select_with(NULL, &found[_i].told, &transport, &err));
    /* nccl extends tcp. */
    if (strcmp(transport->name, "nccl") == 0)
        transport = &mo_transport_tcp;
    ck_assert_str_eq(transport->name, wanted);
}
END_TEST

static const struct {
    const char *variables;
    mo_rdv_launch_options told;
    const char *error;
} refused[] = {
    { "MOIRAI_RANK=2 MOIRAI_RANKS=2", PLAIN, "2 ranks are 0 to 1" },
    { "MOIRAI_RANK=0", PLAIN, "not how many there are" },
    { "MOIRAI_RANKS=3", PLAIN, "not which this is" },
    { "", { .has_rank = true }, "not how many there are" },
    { "MOIRAI_RANK=-1 MOIRAI_RANKS=2", PLAIN, "MOIRAI_RANK is '-1'" },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=two", PLAIN, "MOIRAI_RANKS is 'two'" },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=0", PLAIN, "0 ranks" },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=99999999999999999999", PLAIN,
      "MOIRAI_RANKS is" },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=2 MOIRAI_MASTER=a:b", PLAIN,
      "MOIRAI_MASTER is 'a:b'" },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=2",
      { .master = "tau:70000" },
      "--master is 'tau:70000'" },
    { "RANK=x WORLD_SIZE=2 MASTER_ADDR=tau", PLAIN, "RANK is 'x'" },
    { "RANK=0 WORLD_SIZE=2", PLAIN, "not MASTER_ADDR" },
    { "RANK=3 WORLD_SIZE=2 MASTER_ADDR=tau", PLAIN, "torchrun sets rank 3" },
    { MPIRUN, PLAIN, "mpirun does not set on which host" },
    { "PMIX_RANK=1", PLAIN, "(PMIx) does not set which" },
    { SRUN " SLURM_STEP_NODELIST=gpu[", PLAIN, "names no host" },
};

START_TEST(nonsense_is_refused_in_one_line)
{
    mo_error err = { 0 };
    mo_rdv_params job;

    set_variables(refused[_i].variables);
    ck_assert_int_eq(mo_rdv_params_resolve(&refused[_i].told, &job, &err),
                     MO_E_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].error) != NULL, "%s", err.text);
    ck_assert_ptr_null(strchr(err.text, '\n'));
}
END_TEST

#define TWO        "MOIRAI_RANK=0 MOIRAI_RANKS=2 MOIRAI_MASTER="
#define FILES      .tls_cert = "c", .tls_key = "k", .tls_ca = "a"
#define LONG_TOKEN "0123456789abcdef"

/* The error, or the only note; NULL: none. */
static const struct {
    const char *variables;
    mo_rdv_launch_options told;
    const char *error, *note;
} policies[] = {
    { "", PLAIN, NULL, NULL },
    { "MOIRAI_TOKEN=", PLAIN, NULL, NULL }, /* one process */
    { TWO "127.0.0.1", PLAIN, NULL, NULL },
    { TWO "127.9.9.9:7", PLAIN, NULL, NULL },
    { TWO "localhost", PLAIN, NULL, NULL },
    { TWO "[::1]:9", PLAIN, NULL, NULL },
    { "MOIRAI_RANK=0 MOIRAI_RANKS=2", PLAIN, NULL, NULL },
    { SRUN " SLURM_STEP_NUM_NODES=1", PLAIN, NULL, NULL },
    { ONE_HOST " OMPI_MCA_ess_base_jobid=77", PLAIN, NULL, NULL },
    /* Reachable from other machines. */
    { TWO "tau", PLAIN, "need a token", NULL },
    { TWO "10.0.0.1", PLAIN, "moirai-cluster token", NULL },
    { TWO "0.0.0.0", PLAIN, "need a token", NULL },
    { TWO "127.0.0.1 MOIRAI_BIND=0.0.0.0", PLAIN, "need a token", NULL },
    { TWO "127.0.0.1", { .bind = "10.0.0.1" }, "need a token", NULL },
    { TWO "127.0.0.1", { .bind = "127.0.0.2" }, NULL, NULL },
    { "MOIRAI_RANK=1 MOIRAI_RANKS=2 MOIRAI_MASTER=tau", PLAIN, "need a token",
      NULL },
    /* The name of a job is no secret. */
    { TORCHRUN " TORCHELASTIC_RUN_ID=0123456789abcdef", PLAIN, "need a token",
      NULL },
    { SRUN " SLURM_STEP_NODELIST=gpu[03-07]", PLAIN, "need a token", NULL },
    { TWO "tau", { .open = true }, NULL, "may join" },
    { TWO "tau MOIRAI_OPEN=1", PLAIN, NULL, "may join" },
    { TWO "tau MOIRAI_OPEN=", PLAIN, "need a token", NULL },
    { TWO "127.0.0.1", { .open = true }, NULL, NULL },
    { TWO "tau", { .open = true, .token = LONG_TOKEN }, "--open", NULL },
    { TWO "tau MOIRAI_TOKEN=t", { .open = true }, "--open", NULL },
    { TWO "tau", { .token = LONG_TOKEN }, NULL, NULL },
    { TWO "tau", { .token = "1234567" }, NULL, "has 7 characters" },
    { TWO "127.0.0.1", { .token = "1234567" }, NULL, NULL },
    { TWO "tau MOIRAI_TOKEN=", PLAIN, "token is empty", NULL },
    { TWO "127.0.0.1 MOIRAI_TOKEN=", PLAIN, "token is empty", NULL },
    { TWO "127.0.0.1 MOIRAI_TOKEN=", { .open = true }, "token is empty", NULL },
    { TWO "127.0.0.1 MOIRAI_TOKEN=\t", PLAIN, "token is empty", NULL },
    { TWO "127.0.0.1", { .token = "" }, "token is empty", NULL },
    { TWO "127.0.0.1", { .token = "  " }, "token is empty", NULL },
    { SRUN " SLURM_STEP_NUM_NODES=1 MOIRAI_TOKEN=", PLAIN, "token is empty",
      NULL },
    /* An option overrides the empty variable. */
    { TWO "127.0.0.1 MOIRAI_TOKEN=", { .token = "t" }, NULL, NULL },
    { TWO "tau", { FILES }, NULL, NULL },
    { TWO "tau", { .tls_cert = "c", .tls_key = "k" }, "all three", NULL },
    { TWO "tau MOIRAI_TLS_CA=a", PLAIN, "all three", NULL },
    { TWO "tau MOIRAI_TLS_CA=a MOIRAI_TLS_KEY=k MOIRAI_TLS_CERT=c", PLAIN, NULL,
      NULL },
    { TWO "tau MOIRAI_TLS_CA=a",
      { .tls_cert = "c", .tls_key = "k" },
      "all three",
      NULL },
    { TWO "tau", { FILES, .token = LONG_TOKEN }, "give one", NULL },
    { TWO "tau", { .plain = true, .token = LONG_TOKEN }, NULL, "--plain" },
    { TWO "tau MOIRAI_PLAIN=1", { FILES }, NULL, "--plain" },
    { TWO "127.0.0.1", { .plain = true }, NULL, NULL },
};

static char noted[512];
static int n_noted;

static void keep_note(const char *text)
{
    snprintf(noted, sizeof noted, "%s", text);
    n_noted++;
}

START_TEST(strangers_are_kept_out_unless_they_are_let_in)
{
    const char *error = policies[_i].error, *note = policies[_i].note;
    mo_error why = { 0 };
    mo_rdv_params job;
    mo_status status;

    set_variables(policies[_i].variables);
    MUST(mo_rdv_params_resolve(&policies[_i].told, &job, &err));
    n_noted = 0;
    status = mo_rdv_params_check(&job, keep_note, &why);
    ck_assert_int_eq(status, error ? MO_E_USAGE : MO_OK);
    if (error)
        ck_assert_msg(strstr(why.text, error) != NULL, "%s", why.text);
    ck_assert_int_eq(n_noted, note != NULL);
    if (note)
        ck_assert_msg(strstr(noted, note) != NULL, "%s", noted);
    ck_assert_int_eq(mo_rdv_params_check(&job, NULL, NULL), status);
}
END_TEST

/* Each process would assume that it is the only one. */
START_TEST(ranks_that_are_told_need_a_transport_that_knows_them)
{
    static const mo_rdv_launch_options told[] = {
        { .has_rank = true, .n_ranks = 2 }, { .n_ranks = 2 }
    };
    const mo_rdv_launch_options one = { .has_rank = true, .n_ranks = 1 };
    const mo_transport *transport;
    mo_error why = { 0 };

    set_variables(_i < 2 ? "" : "MOIRAI_TRANSPORT=local");
    ck_assert_int_eq(mo_transport_select_with(_i < 2 ? "local" : NULL,
                                              &told[_i % 2], &transport, &why),
                     MO_E_USAGE);
    ck_assert_msg(strstr(why.text, "--rank and --ranks") != NULL, "%s",
                  why.text);
    MUST(mo_transport_select_with("tcp", &told[_i % 2], &transport, &err));
    MUST(mo_transport_select_with("local", &one, &transport, &err));
}
END_TEST

/* A timeout is obeyed, or refused. */
START_TEST(patience_is_a_number_of_seconds)
{
    static const char *const patiences[] = { "soon", "-3",  "0",   "8s",
                                             "nan",  "inf", "1e7", " " };
    mo_error why = { 0 };
    mo_transport_world *world;

    set_variables("");
    setenv("MOIRAI_PATIENCE", patiences[_i], 1);
    ck_assert_int_eq(mo_transport_tcp.open(NULL, &world, &why), MO_E_USAGE);
    ck_assert_msg(strstr(why.text, "MOIRAI_PATIENCE is") != NULL, "%s",
                  why.text);
    setenv("MOIRAI_PATIENCE", "1e6", 1);
    MUST(mo_transport_tcp.open(NULL, &world, &err));
    mo_transport_tcp.close(world);
    unsetenv("MOIRAI_PATIENCE");
}
END_TEST

static const struct {
    const char *text, *host; /* NULL: malformed */
    int port;                /* 5 where none is given */
} masters[] = {
    { "tau", "tau", 5 },
    { "tau.example.org:80", "tau.example.org", 80 },
    { "10.0.0.1:65535", "10.0.0.1", 65535 },
    { "::1", "::1", 5 },
    { "fe80::2", "fe80::2", 5 },
    { "[::1]", "::1", 5 },
    { "[::1]:8", "::1", 8 },
    { "", NULL, 0 },
    { ":80", NULL, 0 },
    { "tau:", NULL, 0 },
    { "tau:0", NULL, 0 },
    { "tau:65536", NULL, 0 },
    { "tau:8o", NULL, 0 },
    { "[::1", NULL, 0 },
    { "[]", NULL, 0 },
    { "[::1]8", NULL, 0 },
    { "http://tau", NULL, 0 },
    { "a b", NULL, 0 },
};

START_TEST(hosts_and_ports_are_read)
{
    char host[MO_RDV_HOST_SIZE] = "";
    int port = 5;
    bool good = mo_rdv_parse_master(masters[_i].text, host, &port);

    ck_assert_int_eq(good, masters[_i].host != NULL);
    if (!good)
        return;
    ck_assert_str_eq(host, masters[_i].host);
    ck_assert_int_eq(port, masters[_i].port);
}
END_TEST

static const struct {
    const char *list, *first; /* NULL: malformed */
} lists[] = {
    { "tau", "tau" },
    { "tau,phi", "tau" },
    { "gpu[01-04,7],login", "gpu01" },
    { "gpu[7,01-04]", "gpu7" },
    { "n[001-128]x", "n001x" },
    { "r[1-2]n[3-4],s", "r1n3" },
    { "gpu[12]", "gpu12" },
    { "", NULL },
    { ",tau", NULL },
    { "gpu[", NULL },
    { "gpu[]", NULL },
    { "gpu[1", NULL },
    { "gpu[a-b]", NULL },
    { "gpu]1", NULL },
    { "a/b", NULL },
};

START_TEST(the_first_host_of_a_list_is_found)
{
    char host[MO_RDV_HOST_SIZE];
    bool good = mo_rdv_hostlist_first(lists[_i].list, host);

    ck_assert_int_eq(good, lists[_i].first != NULL);
    if (good)
        ck_assert_str_eq(host, lists[_i].first);
}
END_TEST

START_TEST(names_that_never_end_are_refused)
{
    char text[2 * MO_RDV_HOST_SIZE], host[MO_RDV_HOST_SIZE];
    int port = 0;

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    ck_assert(!mo_rdv_parse_master(text, host, &port));
    ck_assert(!mo_rdv_hostlist_first(text, host));
    text[MO_RDV_HOST_SIZE - 1] = '\0';
    ck_assert(mo_rdv_parse_master(text, host, &port));
    ck_assert(mo_rdv_hostlist_first(text, host));
    ck_assert_str_eq(host, text);
}
END_TEST

SUITE(rendezvous_launch)
{
    EACH(a_process_knows_its_rank, COUNT(found));
    EACH(nonsense_is_refused_in_one_line, COUNT(refused));
    EACH(strangers_are_kept_out_unless_they_are_let_in, COUNT(policies));
    EACH(ranks_that_are_told_need_a_transport_that_knows_them, 4);
    EACH(patience_is_a_number_of_seconds, 8);
    EACH(hosts_and_ports_are_read, COUNT(masters));
    EACH(the_first_host_of_a_list_is_found, COUNT(lists));
    TEST(names_that_never_end_are_refused);
}
