"""Sayso: agents that act on a person's say-so."""
