#include "solvers/search/rl/nn/attention_layer.h"

#include <math.h>

/* Products of long rows are large; what they are divided by keeps the softmax
 * from choosing one before anything is learned (Vaswani et al., 2017). */
mo_var mo_attend(mo_tape *tape, mo_var weight, mo_var asked, mo_var memory)
{
    double wide = sqrt((double) mo_tape_cols(tape, memory));
    mo_var question = mo_tape_product(tape, asked, weight);
    mo_var alike = mo_tape_product_turned(tape, question, memory);
    mo_var shares =
        mo_tape_softmax(tape, mo_tape_scaled(tape, alike, 1 / wide));

    return mo_tape_product(tape, shares, memory);
}
