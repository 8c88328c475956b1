Model status
Solution limit reached

# Primal solution values
Feasible
Objective 273
# Columns -20
w 273 0
moirai_g_0123456789abcdef 1 1
x_0_1 1 3
x_1_0 1 4
x_1_1 1 5
x_3_0 1 8
x_3_1 1 9
x_4_0 1 10
x_4_1 1 11
x_9_0 1 20
x_11_1 1 25
x_12_0 1 26
x_12_1 1 27
x_13_1 1 29
x_14_0 1 30
x_14_1 1 31
s_0 58 32
s_1 129 33
s_2 60 34
s_3 26 35
