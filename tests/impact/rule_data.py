"""Figures of public cases: the examples of 6 RCNY § 5-301, and the exams of Ricci v. DeStefano."""

# Where sex meets race and ethnicity, in the example of § 5-301 (b): applicants and selected.
SELECTED = {
    "Male": {
        "Hispanic": (205, 90),
        "White": (412, 215),
        "Black": (226, 95),
        "Pacific": (87, 37),
        "Asian": (321, 167),
        "Native": (24, 11),
        "Two or more": (115, 52),
    },
    "Female": {
        "Hispanic": (190, 82),
        "White": (385, 197),
        "Black": (164, 75),
        "Pacific": (32, 15),
        "Asian": (295, 135),
        "Native": (17, 7),
        "Two or more": (98, 44),
    },
}
# What the rule prints beside them.
SELECTED_RATIOS = {
    ("Male", "Hispanic"): "0.841",
    ("Female", "Hispanic"): "0.827",
    ("Male", "White"): "1.000",
    ("Male", "Black"): "0.806",
    ("Male", "Pacific"): "0.815",
    ("Male", "Asian"): "0.997",
    ("Male", "Native"): "0.878",
    ("Male", "Two or more"): "0.866",
    ("Female", "White"): "0.981",
    ("Female", "Black"): "0.876",
    ("Female", "Pacific"): "0.898",
    ("Female", "Asian"): "0.877",
    ("Female", "Native"): "0.789",
    ("Female", "Two or more"): "0.860",
}
# Its table of race and ethnicity has 408 Hispanic applicants, of whom 204 are selected, where the
# one above has 205 + 190 and 90 + 82; the other rows agree.
BY_RACE = {
    "Hispanic": (408, 204, "0.97"),
    "White": (797, 412, "1.00"),
    "Black": (390, 170, "0.84"),
    "Pacific": (119, 52, "0.85"),
    "Asian": (616, 302, "0.95"),
    "Native": (41, 18, "0.85"),
    "Two or more": (213, 96, "0.87"),
}
# The example of § 5-301 (c): applicants, those above the sample's median (from the printed rate),
# and the printed ratio.
SCORED = {
    "Male": {
        "Hispanic": (16, 12, "1.00"),
        "White": (20, 7, "0.47"),
        "Black": (20, 10, "0.67"),
        "Pacific": (4, 3, "1.00"),
        "Asian": (12, 7, "0.78"),
        "Native": (8, 5, "0.83"),
        "Two or more": (12, 6, "0.67"),
    },
    "Female": {
        "Hispanic": (12, 6, "0.67"),
        "White": (20, 8, "0.53"),
        "Black": (12, 6, "0.67"),
        "Pacific": (4, 2, "0.67"),
        "Asian": (12, 3, "0.33"),
        "Native": (8, 5, "0.83"),
        "Two or more": (8, 4, "0.67"),
    },
}
SCORED_BY_RACE = {
    "Hispanic": "1.00",
    "White": "0.58",
    "Black": "0.78",
    "Pacific": "0.97",
    "Asian": "0.65",
    "Native": "0.97",
    "Two or more": "0.78",
}
# Takers and passers by position and race, counted in the 118 rows of the `fairness` 0.1.8 wheel
# (data/preprocessed/ricci_original.csv); the opinion has these rates, 557 U.S. 557 (2009).
RICCI = {
    "Captain": {"White": (25, 16), "Black": (8, 3), "Hispanic": (8, 3)},
    "Lieutenant": {"White": (43, 25), "Black": (19, 6), "Hispanic": (15, 3)},
}


def rows_of(counts, first, second):
    """The rows behind counts by two attributes: the attributes, and who is selected."""
    attributes = {first: [], second: []}
    selected = []
    for one, others in counts.items():
        for other, (n, x, *_) in others.items():
            attributes[first] += [one] * n
            attributes[second] += [other] * n
            selected += [1] * x + [0] * (n - x)
    return attributes, selected
