Model status
Primal infeasible or unbounded

# Primal solution values
None

# Dual solution values
None
