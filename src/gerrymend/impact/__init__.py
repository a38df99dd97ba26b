"""Impact ratios: the tables regulators ask for, of named groups beside a reference group."""
