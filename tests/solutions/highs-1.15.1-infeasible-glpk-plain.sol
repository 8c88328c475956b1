c Problem:    infeasible
c Rows:       6
c Columns:    4
c Non-zeros:  10
c Status:     INTEGER EMPTY
c Objective:  obj = inf (MINimum)
c
s mip 6 4 n inf
