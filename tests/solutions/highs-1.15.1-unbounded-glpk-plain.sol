c Problem:    unbounded
c Rows:       4
c Columns:    5
c Non-zeros:  8
c Status:     UNDEFINED
c Objective:  obj = inf (MINimum)
c
s mip 4 5 u inf
