=obj= 6.75
w 6.75
moirai_g_0123456789abcdef 1
x_0_0 1
x_1_1 1
s_1 5.5
y_0_0_1 1
