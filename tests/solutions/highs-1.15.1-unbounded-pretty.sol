Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                -inf          inf                            Continuous  s_3
        1                   0          inf                            Continuous  w
        2                   1            1                            Continuous  moirai_g_0123456789abcdef
        3                   0            1                            Integer     x_0_0
        4                   0            1                            Integer     x_0_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                -inf           20                            identity
        1                   1            1                            place_0
        2                -inf            4                            end_0

Model status: Primal infeasible or unbounded

Objective value: inf
