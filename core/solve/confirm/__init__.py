"""The second opinion on a verdict: whether a graph has a legal schedule at an II, asked of z3.

Nothing here is shared with the CP-SAT model but the values of the graph: times are difference logic over slots and
stages, of which there may be any number; units, registers and memories are pseudo-Boolean sums.
"""

from core.solve.confirm.answer import Confirmation, confirm

__all__ = ["Confirmation", "confirm"]
