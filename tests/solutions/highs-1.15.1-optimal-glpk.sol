Problem:    optimal
Rows:       9
Columns:    11 (5 integer, 5 binary)
Non-zeros:  24
Status:     INTEGER OPTIMAL
Objective:  obj = 6.75 (MINimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 identity                    3             3             = 
     2 place_0                     1             1             = 
     3 place_1                     1             1             = 
     4 memory_0                  600                        1000 
     5 memory_1                  600                        1000 
     6 order_0_1                   0             0               
     7 sent_0                     -1            -1               
     8 end_1                       0             0               
     9 obj                      6.75                             

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 w                        6.75             0          1000 
     2 moirai_g_0123456789abcdef
                                   1             1             = 
     3 moirai_c_fedcba9876543210
                                   1             1             = 
     4 moirai_o_paper_ports_tensor_resident_none
                                   1             1             = 
     5 x_0_0        *              1             0             1 
     6 x_0_1        *              0             0             1 
     7 x_1_0        *              0             0             1 
     8 x_1_1        *              1             0             1 
     9 s_1                       5.5             0          1000 
    10 s_0                         0             0          1000 
    11 y_0_0_1      *              1             0             1 

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

KKT.PB: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

End of output
