"""nvcc: where it is, what it says, and what a kernel takes of the machine."""
