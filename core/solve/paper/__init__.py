"""The formulation of "Optimal Software Pipelining and Warp Specialization for Tensor Core GPUs", as printed.

The modules follow the paper's steps: `normalize` (costs), `streaming` (loads whose depth is left to tuning), `modulo`
(least-II modulo schedule), `smt` (the joint system over the straight-line program) and `search`. What it finds is a
schedule in its own, normalised cycles: `result` puts it on the normalised graph, `retime` gives it raw cycles, and
`solve` has the judge look at both. Its gaps are kept, and named where they arise, so that the judge can show what
they miss.
"""
