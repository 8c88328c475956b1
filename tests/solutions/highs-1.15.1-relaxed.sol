Model status
Optimal

# Primal solution values
Feasible
Objective 5.9166666666667
# Columns 11
w 5.9166666666667
moirai_g_0123456789abcdef 1
moirai_c_fedcba9876543210 1
moirai_o_paper_ports_tensor_resident_none 1
x_0_0 1
x_0_1 0
x_1_0 0.6666666666667
x_1_1 0.3333333333333
s_1 4.1666666666667
s_0 0
y_0_0_1 0.3333333333333
# Rows 8
identity 3
place_0 1
place_1 1
memory_0 1000
memory_1 199.9999999999999
order_0_1 0
sent_0 -1
end_1 0

# Dual solution values
Feasible
# Columns 11
w 0
moirai_g_0123456789abcdef 0
moirai_c_fedcba9876543210 0
moirai_o_paper_ports_tensor_resident_none 0
x_0_0 0
x_0_1 0.25
x_1_0 0
x_1_1 0
s_1 0
s_0 1
y_0_0_1 0
# Rows 8
identity 0
place_0 6.75
place_1 3.25
memory_0 -0.0020833333333
memory_1 0
order_0_1 1
sent_0 2
end_1 1

# Basis
HiGHS_basis_file v2
Valid
# Columns 11
w 1
moirai_g_0123456789abcdef 0
moirai_c_fedcba9876543210 0
moirai_o_paper_ports_tensor_resident_none 0
x_0_0 1
x_0_1 0
x_1_0 1
x_1_1 1
s_1 1
s_0 0
y_0_0_1 1
# Rows 8
identity 1
place_0 2
place_1 2
memory_0 2
memory_1 1
order_0_1 0
sent_0 0
end_1 0
