Model status
Solution limit reached

# Primal solution values
Feasible
Objective 273
# Columns 36
w 273
moirai_g_0123456789abcdef 1
x_0_0 0
x_0_1 1
x_1_0 1
x_1_1 1
x_2_0 0
x_2_1 0
x_3_0 1
x_3_1 1
x_4_0 1
x_4_1 1
x_5_0 0
x_5_1 0
x_6_0 0
x_6_1 0
x_7_0 0
x_7_1 0
x_8_0 0
x_8_1 0
x_9_0 1
x_9_1 0
x_10_0 0
x_10_1 0
x_11_0 0
x_11_1 1
x_12_0 1
x_12_1 1
x_13_0 0
x_13_1 1
x_14_0 1
x_14_1 1
s_0 58
s_1 129
s_2 60
s_3 26
# Rows 10
identity 1
below_0 781
above_0 665
below_1 906
above_1 648
below_2 959
above_2 839
below_3 669
above_3 617
total 0

# Dual solution values
None

# Basis
HiGHS_basis_file v2
None
