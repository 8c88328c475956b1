solution status: node limit reached
no solution available
