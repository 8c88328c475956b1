Problem:    feasible
Rows:       11
Columns:    36 (30 integer, 30 binary)
Non-zeros:  255
Status:     INTEGER NON-OPTIMAL
Objective:  obj = 273 (MINimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 identity                    1             1             = 
     2 below_0                   781           781               
     3 above_0                   665                         781 
     4 below_1                   906           906               
     5 above_1                   648                         906 
     6 below_2                   959           959               
     7 above_2                   839                         959 
     8 below_3                   669           669               
     9 above_3                   617                         669 
    10 total                       0             0               
    11 obj                       273                             

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 w                         273             0        100000 
     2 moirai_g_0123456789abcdef
                                   1             0               
     3 x_0_0        *              0             0             1 
     4 x_0_1        *              1             0             1 
     5 x_1_0        *              1             0             1 
     6 x_1_1        *              1             0             1 
     7 x_2_0        *              0             0             1 
     8 x_2_1        *              0             0             1 
     9 x_3_0        *              1             0             1 
    10 x_3_1        *              1             0             1 
    11 x_4_0        *              1             0             1 
    12 x_4_1        *              1             0             1 
    13 x_5_0        *              0             0             1 
    14 x_5_1        *              0             0             1 
    15 x_6_0        *              0             0             1 
    16 x_6_1        *              0             0             1 
    17 x_7_0        *              0             0             1 
    18 x_7_1        *              0             0             1 
    19 x_8_0        *              0             0             1 
    20 x_8_1        *              0             0             1 
    21 x_9_0        *              1             0             1 
    22 x_9_1        *              0             0             1 
    23 x_10_0       *              0             0             1 
    24 x_10_1       *              0             0             1 
    25 x_11_0       *              0             0             1 
    26 x_11_1       *              1             0             1 
    27 x_12_0       *              1             0             1 
    28 x_12_1       *              1             0             1 
    29 x_13_0       *              0             0             1 
    30 x_13_1       *              1             0             1 
    31 x_14_0       *              1             0             1 
    32 x_14_1       *              1             0             1 
    33 s_0                        58             0               
    34 s_1                       129             0               
    35 s_2                        60             0               
    36 s_3                        26             0               

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

KKT.PB: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

End of output
