Problem:    none
Rows:       7
Columns:    32 (30 integer, 30 binary)
Non-zeros:  123
Status:     UNDEFINED
Objective:  obj = inf (MINimum)

