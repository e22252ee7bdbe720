"""The formulation of "Optimal Software Pipelining and Warp Specialization for Tensor Core GPUs", as printed.

The modules follow the paper's steps: `normalize` (costs), `modulo` (least-II modulo schedule), `smt` (the joint
system over the straight-line program) and `search`. Its gaps are kept, and named where they arise, so that the judge
can show what they miss.
"""
