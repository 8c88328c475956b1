Integer infeasible - objective value 3.66666667
      0 w                               3.6666667                       0
      1 moirai_g_0123456789abcdef               1                       0
      2 x_0_0                          0.83333333                       0
      3 x_0_1                          0.16666667                       0
