"""Repair of scores: changes to subgroups within intervals of the score, learnt one by one."""
