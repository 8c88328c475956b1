Problem:    infeasible
Rows:       6
Columns:    4 (2 integer, 2 binary)
Non-zeros:  10
Status:     INTEGER EMPTY
Objective:  obj = inf (MINimum)

