"""The role program: between a judged schedule and text, what each warp group does, statement by statement."""
