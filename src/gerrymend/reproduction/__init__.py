"""The paper, reproduced: experiments write records, figures and the report only read them."""

TARGETS = ("table1", "toy", "convergence", "pareto", "surface", "trajectory", "c", "future")
