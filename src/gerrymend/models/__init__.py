"""Predict with mixtures: the deployable classifier, its file, its derandomised form."""
