# SPDX-License-Identifier: Apache-2.0
"""Random models of one operator each, for infer_oracle.py: CASES, filled by the
modules of the operators in this order."""
import infer_case
import infer_point
import infer_move
import infer_product
import infer_recurrent
import infer_value

MODULES = (infer_point, infer_move, infer_product, infer_recurrent, infer_value)
CASES = infer_case.CASES
