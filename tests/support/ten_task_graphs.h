/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ten_task_graphs.h - the example graphs of ten tasks on three processors from
 * the literature on list scheduling, in the text form of problem.h.
 */
#ifndef MO_TESTS_SUPPORT_TEN_TASK_GRAPHS_H
#define MO_TESTS_SUPPORT_TEN_TASK_GRAPHS_H

/* Every transfer takes as many us as there are thousands of bytes. */
#define TEN_TASKS_CLUSTER "A; B; C; A-B gbps=8; A-C gbps=8; B-C gbps=8"

/* Topcuoglu, Hariri, Wu 2002: HEFT takes 80, CPoP 86. */
static const char topcuoglu_tasks[] =
    "n1 t.A=14 t.B=16 t.C=9;   n2 t.A=13 t.B=19 t.C=18;"
    "n3 t.A=11 t.B=13 t.C=19;  n4 t.A=13 t.B=8 t.C=17;"
    "n5 t.A=12 t.B=13 t.C=10;  n6 t.A=13 t.B=16 t.C=9;"
    "n7 t.A=7 t.B=15 t.C=11;   n8 t.A=5 t.B=11 t.C=14;"
    "n9 t.A=18 t.B=12 t.C=20;  n10 t.A=21 t.B=7 t.C=16;"
    "n1>n2 bytes=18000; n1>n3 bytes=12000; n1>n4 bytes=9000;"
    "n1>n5 bytes=11000; n1>n6 bytes=14000; n2>n8 bytes=19000;"
    "n2>n9 bytes=16000; n3>n7 bytes=23000; n4>n8 bytes=27000;"
    "n4>n9 bytes=23000; n5>n9 bytes=13000; n6>n8 bytes=15000;"
    "n7>n10 bytes=17000; n8>n10 bytes=11000; n9>n10 bytes=13000";

/* Arabnejad, Barbosa 2014: PEFT takes 122, HEFT 133. */
static const char arabnejad_tasks[] =
    "n1 t.A=22 t.B=21 t.C=36;  n2 t.A=22 t.B=18 t.C=18;"
    "n3 t.A=32 t.B=27 t.C=43;  n4 t.A=7 t.B=10 t.C=4;"
    "n5 t.A=29 t.B=27 t.C=35;  n6 t.A=26 t.B=17 t.C=24;"
    "n7 t.A=14 t.B=25 t.C=30;  n8 t.A=29 t.B=23 t.C=36;"
    "n9 t.A=15 t.B=21 t.C=8;   n10 t.A=13 t.B=16 t.C=33;"
    "n1>n2 bytes=17000; n1>n3 bytes=31000; n1>n4 bytes=29000;"
    "n1>n5 bytes=13000; n1>n6 bytes=7000; n2>n8 bytes=3000;"
    "n2>n9 bytes=30000; n3>n7 bytes=16000; n4>n8 bytes=11000;"
    "n4>n9 bytes=7000; n5>n9 bytes=57000; n6>n8 bytes=5000;"
    "n7>n10 bytes=9000; n8>n10 bytes=42000; n9>n10 bytes=7000";

#endif
