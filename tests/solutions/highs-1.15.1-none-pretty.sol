Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0       100000                            Continuous  w
        1                   0          inf                            Continuous  moirai_g_0123456789abcdef
        2                   0            1                            Integer     x_0_0
        3                   0            1                            Integer     x_0_1
        4                   0            1                            Integer     x_1_0
        5                   0            1                            Integer     x_1_1
        6                   0            1                            Integer     x_2_0
        7                   0            1                            Integer     x_2_1
        8                   0            1                            Integer     x_3_0
        9                   0            1                            Integer     x_3_1
       10                   0            1                            Integer     x_4_0
       11                   0            1                            Integer     x_4_1
       12                   0            1                            Integer     x_5_0
       13                   0            1                            Integer     x_5_1
       14                   0            1                            Integer     x_6_0
       15                   0            1                            Integer     x_6_1
       16                   0            1                            Integer     x_7_0
       17                   0            1                            Integer     x_7_1
       18                   0            1                            Integer     x_8_0
       19                   0            1                            Integer     x_8_1
       20                   0            1                            Integer     x_9_0
       21                   0            1                            Integer     x_9_1
       22                   0            1                            Integer     x_10_0
       23                   0            1                            Integer     x_10_1
       24                   0            1                            Integer     x_11_0
       25                   0            1                            Integer     x_11_1
       26                   0            1                            Integer     x_12_0
       27                   0            1                            Integer     x_12_1
       28                   0            1                            Integer     x_13_0
       29                   0            1                            Integer     x_13_1
       30                   0            1                            Integer     x_14_0
       31                   0            1                            Integer     x_14_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   1            1                            identity
        1                 781          781                            split_0
        2                 906          906                            split_1
        3                 959          959                            split_2
        4                 669          669                            split_3
        5                   1          inf                            total

Model status: Time limit reached

Objective value: inf
