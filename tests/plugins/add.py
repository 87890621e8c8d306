"""A kernel in Python as a plug-in, without numpy: the sum of two matrices (tests/golden/python_plugin.py)."""
from python_plugin import kernel


@kernel("add", "python")
def add(call):
    y, a, b = call["y"], call["a"], call["b"]
    for i in range(y.rows):
        y_i, a_i, b_i = y.row(i), a.row(i), b.row(i)
        for k in range(y.cols):
            y_i[k] = (y_i[k] if y.accumulate else 0) + a_i[k] + b_i[k]
