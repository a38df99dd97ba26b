"""Train and audit a model for each gamma, and compare what they trade."""
