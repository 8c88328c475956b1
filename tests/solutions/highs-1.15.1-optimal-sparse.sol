Model status
Optimal

# Primal solution values
Feasible
Objective 6.75
# Columns -8
w 6.75 0
moirai_g_0123456789abcdef 1 1
moirai_c_fedcba9876543210 1 2
moirai_o_paper_ports_tensor_resident_none 1 3
x_0_0 1 4
x_1_1 1 7
s_1 5.5 8
y_0_0_1 1 10
