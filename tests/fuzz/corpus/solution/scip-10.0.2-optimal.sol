solution status: optimal solution found
objective value:                                 6.75
x_0_0                                               1 	(obj:0)
x_1_1                                               1 	(obj:0)
y_0_0_1                                             1 	(obj:0)
w                                                6.75 	(obj:1)
moirai_g_0123456789abcdef                           1 	(obj:0)
moirai_c_fedcba9876543210                           1 	(obj:0)
s_1                                               5.5 	(obj:0)
moirai_o_paper_ports_tensor_resident_none                    1 	(obj:0)
