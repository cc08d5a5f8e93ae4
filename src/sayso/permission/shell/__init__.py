"""Bash text as units: what running it would do, found without running it.

    gate -> heredoc -> tree -> walk (cursor, pipeline, simple, compound) -> command (wrapper, builtin, declaration)

`units` is the way in. Words are `word`'s (ansi, parameter, arithmetic, variable). Which rules match is `match`'s,
what only reads `readonly`'s, what no rule may allow `safety`'s, what edits files `edits`'s.
"""
