"""Impact ratios: rates of named groups beside a reference group's, in the tables regulators ask for."""
