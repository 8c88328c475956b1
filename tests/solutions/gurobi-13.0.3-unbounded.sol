# Solution for model obj
# Objective value = -1e+30
s_3 -1e+30
w 0
moirai_g_0123456789abcdef 1
x_0_0 1
x_0_1 0
