"""Why not: reasons, in the user's words, for what has no schedule, and what would have to change.

How it is called, by a command or in a job's process (no Qt, everything can be pickled)::

    from core.explain.explain import explain
    from core.explain.options import ExplainOptions
    from core.explain.question import why_not_ii

    answer = explain(why_not_ii(graph, 2047), ExplainOptions(total_s=30.0), emit, stopped)

`core.explain.question` makes the questions: `why_not_ii`, `why_not_groups`, `why_not_registers`, `why_not_there` (an op
on a group, at a cycle, or both) and `why_not_together` (ops that must be apart). `emit` gets one
`core.explain.answer.Explanation` after the other, each with all of the one before and something better or more:
arithmetic at once; cores, each again when it has been confirmed; what would help; the dependences that matter. The one
with `done` is the last and is returned too. `stopped` is asked many times a second: once it says True the answer so far
is the last. Where what is asked is possible, `binding` says what has least room left. With
`ExplainOptions(sensitivity=True)` the last to come is which costs the least II depends on, and how closely.

A `Reason`, a `Relaxation` and a `Sensitivity` each have a `sentence` and a `highlight`: the ops, dependences, units and
groups that views light up. `Explanation.as_json` is the document of the command line.
"""
