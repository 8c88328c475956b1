Problem:    unbounded
Rows:       4
Columns:    5 (2 integer, 2 binary)
Non-zeros:  8
Status:     UNDEFINED
Objective:  obj = inf (MINimum)

