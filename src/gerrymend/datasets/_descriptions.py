"""DESCR texts of the datasets: content, source, licence and cleaning."""

COMMUNITIES = """\
Communities and Crime: 1,994 communities of the United States, 122 features from the census of 1990,
police statistics of 1990 and crime figures of 1995, all scaled to [0, 1].

Source: UCI Machine Learning Repository, Communities and Crime (M. Redmond),
https://doi.org/10.24432/C53W3X. Licence: CC BY 4.0.

Cleaned as in Kearns, Neel, Roth and Wu (2019): the five columns that do not predict (state, county,
community, communityname, fold) are dropped, missing values are 0. The label is 1 where
ViolentCrimesPerPop is above its 70th percentile. Protected: 18 columns on race, income by race,
language, foreign birth and the race of police officers.
"""

LAW_SCHOOL = """\
Law School: law students of the LSAC National Longitudinal Bar Passage Study (L. F. Wightman, 1998),
a subset of 2,052 with about as many who failed the bar examination as who passed it.

Source: dataset/lawschool.csv in the public repository of the paper's authors (GerryFair, MIT
licence). No licence of the study's own data is stated there.

Cleaned as in Kearns, Neel, Roth and Wu (2019): race, a code from 1 to 8, is a string. The label is
1 where bar1 is P, passed. Protected: race, fam_inc (family income), age and gender.
"""

LAW_SCHOOL_DROPPED = "The 229 rows with a missing value are dropped: 1,823 are left.\n"

LAW_SCHOOL_KEPT = """\
All 2,052 rows are kept (drop_missing=False): missing numbers are NaN, the one missing race is None,
with no indicator set where it is encoded.
"""

LAW_SCHOOL_STAND_IN = """\
Law School (stand-in): this is NOT the file that the paper used, which could not be
downloaded. It stands in for it, from the same study, with other columns: no age and no family
income. Figures of the paper can't be compared with figures from it.

Source: law_data.csv, 21,791 students of the LSAC National Longitudinal Bar Passage Study (L. F.
Wightman, 1998), as carried by the registry package ethik 0.0.2. No licence of the study's own data
is stated there.

Cleaned: 2,052 rows, the paper's number, with as many who failed the bar examination as who passed
it at the first try, drawn with a fixed seed and kept in their order. Race and sex (a code, 1 or 2)
are strings. No value is missing. The label is 1 where first_pf is 1. Protected: race and sex.
"""

ADULT_PAPER = """\
Adult: people in the census of the United States of 1994, 14 features; the paper's balanced subset,
2,020 of the 32,561 rows of adult.data, in their order.

"""

ADULT_FULL = """\
Adult (full): people in the census of the United States of 1994, 14 features; all 32,561 rows of
adult.data. The paper used a balanced subset of them (subset="paper").

"""

ADULT = """\
Source: UCI Machine Learning Repository, Adult (B. Becker and R. Kohavi),
https://doi.org/10.24432/C5XW20. Licence: CC BY 4.0.

Cleaned as in Kearns, Neel, Roth and Wu (2019): spaces around values are stripped, a "?" is a
category like others. The label is 1 where income is above 50K. Protected: age, race and sex.
"""

STUDENT = """\
Student: 395 students of mathematics in two Portuguese secondary schools, 30 features.

Source: UCI Machine Learning Repository, Student Performance (P. Cortez), student-mat.csv,
https://doi.org/10.24432/C5TG7T. Licence: CC BY 4.0.

Cleaned as in Kearns, Neel, Roth and Wu (2019): the grades of the first two periods, G1 and G2, are
dropped. The label is 1 where the final grade, G3, is at least 11. Protected: sex, age, romantic,
Dalc and Walc (drinking on workdays and at weekends).
"""
