# status: no solution
# bound: 6.5
