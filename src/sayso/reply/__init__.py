"""A reply as a pure machine: facts in, effects out. No I/O, no clock, no randomness; no adapter is known here."""
