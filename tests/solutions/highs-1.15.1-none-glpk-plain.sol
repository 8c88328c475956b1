c Problem:    none
c Rows:       7
c Columns:    32
c Non-zeros:  123
c Status:     UNDEFINED
c Objective:  obj = inf (MINimum)
c
s mip 7 32 u inf
