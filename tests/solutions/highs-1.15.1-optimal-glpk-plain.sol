c Problem:    optimal
c Rows:       9
c Columns:    11
c Non-zeros:  24
c Status:     INTEGER OPTIMAL
c Objective:  obj = 6.75 (MINimum)
c
s mip 9 11 o 6.75
i 1 3
i 2 1
i 3 1
i 4 600
i 5 600
i 6 0
i 7 -1
i 8 0
i 9 6.75
j 1 6.75
j 2 1
j 3 1
j 4 1
j 5 1
j 6 0
j 7 0
j 8 1
j 9 5.5
j 10 0
j 11 1
e o f
