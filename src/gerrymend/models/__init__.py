"""Mixtures of predictors: the deployable classifier, its file and its derandomised form."""
