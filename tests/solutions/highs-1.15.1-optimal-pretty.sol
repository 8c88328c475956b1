Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0         1000         6.75               Continuous  w
        1                   1            1            1               Continuous  moirai_g_0123456789abcdef
        2                   1            1            1               Continuous  moirai_c_fedcba9876543210
        3                   1            1            1               Continuous  moirai_o_paper_ports_tensor_resident_none
        4                   0            1            1               Integer     x_0_0
        5                   0            1            0               Integer     x_0_1
        6                   0            1            0               Integer     x_1_0
        7                   0            1            1               Integer     x_1_1
        8                   0         1000          5.5               Continuous  s_1
        9                   0         1000            0               Continuous  s_0
       10                   0            1            1               Integer     y_0_0_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   3            3            3               identity
        1                   1            1            1               place_0
        2                   1            1            1               place_1
        3                -inf         1000          600               memory_0
        4                -inf         1000          600               memory_1
        5                   0          inf            0               order_0_1
        6                  -1          inf           -1               sent_0
        7                   0          inf            0               end_1

Model status: Optimal

Objective value: 6.75
