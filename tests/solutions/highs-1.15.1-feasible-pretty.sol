Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0       100000          273               Continuous  w
        1                   0          inf            1               Continuous  moirai_g_0123456789abcdef
        2                   0            1            0               Integer     x_0_0
        3                   0            1            1               Integer     x_0_1
        4                   0            1            1               Integer     x_1_0
        5                   0            1            1               Integer     x_1_1
        6                   0            1            0               Integer     x_2_0
        7                   0            1            0               Integer     x_2_1
        8                   0            1            1               Integer     x_3_0
        9                   0            1            1               Integer     x_3_1
       10                   0            1            1               Integer     x_4_0
       11                   0            1            1               Integer     x_4_1
       12                   0            1            0               Integer     x_5_0
       13                   0            1            0               Integer     x_5_1
       14                   0            1            0               Integer     x_6_0
       15                   0            1            0               Integer     x_6_1
       16                   0            1            0               Integer     x_7_0
       17                   0            1            0               Integer     x_7_1
       18                   0            1            0               Integer     x_8_0
       19                   0            1            0               Integer     x_8_1
       20                   0            1            1               Integer     x_9_0
       21                   0            1            0               Integer     x_9_1
       22                   0            1            0               Integer     x_10_0
       23                   0            1            0               Integer     x_10_1
       24                   0            1            0               Integer     x_11_0
       25                   0            1            1               Integer     x_11_1
       26                   0            1            1               Integer     x_12_0
       27                   0            1            1               Integer     x_12_1
       28                   0            1            0               Integer     x_13_0
       29                   0            1            1               Integer     x_13_1
       30                   0            1            1               Integer     x_14_0
       31                   0            1            1               Integer     x_14_1
       32                   0          inf           58               Continuous  s_0
       33                   0          inf          129               Continuous  s_1
       34                   0          inf           60               Continuous  s_2
       35                   0          inf           26               Continuous  s_3
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   1            1            1               identity
        1                 781          inf          781               below_0
        2                -inf          781          665               above_0
        3                 906          inf          906               below_1
        4                -inf          906          648               above_1
        5                 959          inf          959               below_2
        6                -inf          959          839               above_2
        7                 669          inf          669               below_3
        8                -inf          669          617               above_3
        9                   0          inf            0               total

Model status: Solution limit reached

Objective value: 273
