Optimal - objective value 6.75000000
      0 w                                                    6.75                       0
      1 moirai_g_0123456789abcdef                               1                       0
      2 moirai_c_fedcba9876543210                               1                       0
      3 moirai_o_paper_ports_tensor_resident_none               1                       0
      4 x_0_0                                                   1                     3.5
      5 x_0_1                                                   0                       7
      6 x_1_0                                                   0                       2
      7 x_1_1                                                   1                    1.25
      8 s_1                                                   5.5                       0
      9 s_0                                                     0                       1
     10 y_0_0_1                                                 1                       2
