"""A NumPy interpreter of a TTGIR function: what the kernel computes, tile by tile, for small grids.

It is the oracle for generated code, so it knows nothing of schedules: ops run one after another in the text's order.
An op that it does not know is an InputError.
"""

from core.ir.interpret.descriptors import TensorDescriptor
from core.ir.interpret.formats import Precision
from core.ir.interpret.kernel import Argument, Parameter, parameters, run

__all__ = ["Argument", "Parameter", "Precision", "TensorDescriptor", "parameters", "run"]
