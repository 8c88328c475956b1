Unbounded - objective value 0.00000000
      0 s_3                                     0                       0
      1 w                                       0                       1
**       2 moirai_g_0123456789abcdef               0                       0
      3 x_0_0                                   0                       3
      4 x_0_1                                   0                       0
