Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0          inf                            Continuous  w
        1                   1            1                            Continuous  moirai_g_0123456789abcdef
        2                   0            1                            Integer     x_0_0
        3                   0            1                            Integer     x_0_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   1          inf                            identity
        1                   1            1                            place_0
        2                -inf          500                            memory_0
        3                -inf          500                            memory_1
        4                   0          inf                            end_0

Model status: Infeasible

Objective value: inf
