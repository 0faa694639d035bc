"""Hosts of nodesets as actors of a Ray cluster: a driver the engine starts, one actor per replica."""
