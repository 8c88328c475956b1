Model status
Optimal

# Primal solution values
Feasible
Objective 6.75
# Columns 11
w 6.75
moirai_g_0123456789abcdef 1
moirai_c_fedcba9876543210 1
moirai_o_paper_ports_tensor_resident_none 1
x_0_0 1
x_0_1 0
x_1_0 0
x_1_1 1
s_1 5.5
s_0 0
y_0_0_1 1
# Rows 8
identity 3
place_0 1
place_1 1
memory_0 600
memory_1 600
order_0_1 0
sent_0 -1
end_1 0

# Dual solution values
None

# Basis
HiGHS_basis_file v2
None
