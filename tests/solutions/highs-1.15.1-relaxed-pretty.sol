Columns
    Index Status        Lower        Upper       Primal         Dual  Name
        0     BS            0         1000      5.91667            0  w
        1     FX            1            1            1            0  moirai_g_0123456789abcdef
        2     FX            1            1            1            0  moirai_c_fedcba9876543210
        3     FX            1            1            1            0  moirai_o_paper_ports_tensor_resident_none
        4     BS            0          inf            1            0  x_0_0
        5     LB            0          inf            0         0.25  x_0_1
        6     BS            0          inf     0.666667            0  x_1_0
        7     BS            0          inf     0.333333            0  x_1_1
        8     BS            0         1000      4.16667            0  s_1
        9     LB            0         1000            0            1  s_0
       10     BS            0          inf     0.333333            0  y_0_0_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0     BS            3            3            3           -0  identity
        1     FX            1            1            1         6.75  place_0
        2     FX            1            1            1         3.25  place_1
        3     UB         -inf         1000         1000  -0.00208333  memory_0
        4     BS         -inf         1000          200           -0  memory_1
        5     LB            0          inf            0            1  order_0_1
        6     LB           -1          inf           -1            2  sent_0
        7     LB            0          inf            0            1  end_1

Model status: Optimal

Objective value: 5.9166666666667
