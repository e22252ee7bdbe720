"""CUDA C++ for Hopper from a role program: text that calls one fixed runtime header.

Lowest first: `elements`, `encodings`, `layouts` (linear maps of register tiles), `holds` (what a value is in the text),
`scalar` (one element), `text` and `context` (what is being written), the lowerings of `tile_ops`, `memory_ops` and
`matrix_ops`, `maps` (tensor maps of the host), `rings`, `variables`, `issues` (one operation), `statements` (a role),
`shared_memory`, `kernel` (a file), `host`, `batch` and `case` (calls of the test program), `folder`.
"""
