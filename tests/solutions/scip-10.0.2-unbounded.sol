solution status: unbounded
objective value:                              -100000
x_0_0                                               1 	(obj:0)
moirai_g_0123456789abcdef                           1 	(obj:0)
s_3                                           -100000 	(obj:1)
