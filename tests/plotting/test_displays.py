"""Displays: what is drawn is the data, on the Axes that was given."""

import itertools
import json
import re
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gerrymend import (
    AuditDisplay,
    ConvergenceDisplay,
    ExplicitGroups,
    FrontierDisplay,
    ParetoFrontier,
    SubgroupCalibrationDisplay,
    SubgroupParityClassifier,
    SurfaceDisplay,
    TrajectoryDisplay,
    audit,
    discrimination_surface,
    pareto_frontier,
)
from gerrymend.datasets import make_gerrymandered, make_intersectional
from gerrymend.plotting._display import label
from tests.all_rounds import MAY_EXCEED_GAMMA

pytestmark = MAY_EXCEED_GAMMA


@pytest.fixture(autouse=True)
def no_window():
    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.fixture(scope="module")
def data():
    return make_intersectional(500, cardinalities=(2, 3), n_numeric=1, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    clf = SubgroupParityClassifier(
        LinearRegression(), gamma=0.004, max_iter=10, tol=None, random_state=0
    )
    return clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)


@pytest.fixture(scope="module")
def frontier(data):
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="conjunctions", max_iter=5, tol=None, random_state=0
    )
    return pareto_frontier(
        clf,
        data.data, data.target, sensitive_features=data.sensitive_features, test_size=0.4,
        gammas=[0.0, 0.005, 0.02], audit_subgroups="conjunctions", today=1 - data.target,
        estimators={"linear": LinearRegression(), "other": LinearRegression(fit_intercept=False)},
    )  # fmt: skip


@pytest.fixture
def report(toy):
    _, y, protected = toy
    return audit(
        y, 1 - y[::-1], sensitive_features=protected[["race", "sex"]], subgroups="marginals", top=2
    )


def line(ax, words):
    """The x and y of the line whose label begins so."""
    (found,) = [one for one in ax.get_lines() if str(one.get_label()).startswith(words)]
    return np.column_stack(found.get_data())


def tick_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_an_audit_s_rates_and_intervals(report):
    display = AuditDisplay.from_report(report)
    found, others = line(display.ax_, "worst found"), line(display.ax_, "others")
    np.testing.assert_allclose(found[:, 0], [one.rate for one in report.top])
    named = {one.describe() for one in report.top}
    listed = sorted(
        (one for one in report.intervals if one.group not in named), key=lambda one: -one.rate
    )
    np.testing.assert_allclose(others[:, 0], [one.rate for one in listed])
    words = [one.describe() for one in report.top] + [one.group for one in listed]
    assert [text.split("  (")[0] for text in tick_labels(display.ax_)] == words
    overall = report.top[0].overall_rate
    np.testing.assert_allclose(line(display.ax_, "overall")[:, 0], overall)
    intervals = {one.group: one.rate_interval for one in report.intervals}
    bars = [
        one.get_xdata().tolist() for one in display.ax_.get_lines()
        if one.get_marker() == "|" and len(one.get_xdata())
    ]  # fmt: skip
    assert sorted(bars) == sorted(list(intervals[one]) for one in words)


def test_a_report_whose_class_lists_nothing_has_one_attribute_at_a_time():
    toy = make_gerrymandered(400)
    decided = (toy.score >= 0.5).astype(int)
    display = AuditDisplay.from_predictions(
        toy.target, decided, sensitive_features=toy.sensitive_features
    )
    assert [(one.words, one.found, one.interval is None) for one in display.groups] == [
        ("race = blue and gender = man", True, True),
        ("race = green and gender = woman", True, True),
        ("race = blue", False, False),
        ("race = green", False, False),
        ("gender = man", False, False),
        ("gender = woman", False, False),
    ]
    assert "95 % intervals" in str(display.ax_.get_legend_handles_labels()[1])
    nothing = AuditDisplay.from_predictions(
        toy.target, decided, sensitive_features=toy.sensitive_features, min_group_size=400
    )
    assert nothing.groups == ()
    assert "No subgroup" in nothing.ax_.texts[0].get_text()
    one = AuditDisplay.from_predictions(
        toy.target, decided, sensitive_features=toy.sensitive_features,
        subgroups=ExplicitGroups({"blue men": {"race": "blue", "gender": "man"}}),
    )  # fmt: skip
    assert len(one.groups) == 1


def test_two_rates_are_told_apart(toy):
    _, y, protected = toy
    display = AuditDisplay.from_predictions(
        y, 1 - y[::-1], sensitive_features=protected[["sex"]], subgroups="marginals",
        notion="equalized_odds",
    )  # fmt: skip
    assert display.ax_.get_xlabel() == "rate"
    assert all("rate)" in text for text in tick_labels(display.ax_))
    both = {"false_positive_rate": 0.5, "false_negative_rate": 0.4}
    ax = AuditDisplay(display.groups, both).plot()
    np.testing.assert_allclose(line(ax, "overall false positive rate: 50 %")[:, 0], 0.5)
    np.testing.assert_allclose(line(ax, "overall false negative rate: 40 %")[:, 0], 0.4)
    lines = [one for one in ax.get_lines() if "overall" in str(one.get_label())]
    assert len({one.get_linestyle() for one in lines}) == 2


def test_long_names_and_many_groups():
    rng = np.random.default_rng(0)
    values = [f"value {i} of $many$ <b>{'x' * 60}" for i in range(40)]
    y = rng.integers(0, 2, 4000)
    display = AuditDisplay.from_predictions(
        y, rng.integers(0, 2, 4000), subgroups="marginals",
        sensitive_features={"n" * 80: rng.choice(values, 4000)},
    )  # fmt: skip
    display.figure_.canvas.draw()
    texts = tick_labels(display.ax_)
    assert len(texts) == len(set(texts)) == 40
    assert all(len(text) < 60 and "\n" not in text for text in texts)
    left = min(text.get_window_extent().x0 for text in display.ax_.get_yticklabels())
    assert left >= 0  # no label is cut off
    boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))


def test_long_rules_are_named_in_few_words():
    rng = np.random.default_rng(1)
    district, age = rng.integers(0, 40, 1500), rng.choice([25, 45, 65], 1500)
    decided = rng.random(1500) < 0.2 + 0.3 * (district % 3 == 0) + 0.004 * (age - 40)
    protected = {"district": [f"D{number}" for number in district], "age": age}
    report = audit(np.zeros(1500, int), decided.astype(int), sensitive_features=protected, budget=1)
    assert len(report.worst.describe()) > 300
    found = AuditDisplay.from_report(report).groups[0]
    assert found.words.startswith("a sum of ")
    assert len(found.words) < 120


def test_labels_are_short_and_no_formulas():
    assert label("a and b = 3") == "a and b = 3"
    assert label("") == ""
    assert label("x" * 200, width=20, lines=2).count("\n") == 1
    many = label(" and ".join(f"a{i} = {i}" for i in range(50)), width=30, lines=2)
    assert many.count("\n") == 1
    assert many.endswith("…")
    assert label("$x^2$") == r"\$x^2\$"


@pytest.mark.parametrize("kind", ["mixture", "classifier", "pipeline", "other"])
def test_an_estimator_is_audited_by_what_it_decides(kind, data, fitted):
    X, y, A = data.data, data.target, data.sensitive_features
    other = LogisticRegression().fit(X, y)
    scale = StandardScaler().fit(X)
    inner = SubgroupParityClassifier(LinearRegression(), gamma=1.0, subgroups="marginals")
    inner.fit(scale.transform(X), y, sensitive_features=A)
    model = {
        "mixture": fitted.mixture_,
        "classifier": fitted,
        "pipeline": make_pipeline(scale, inner),
        "other": other,
    }[kind]
    if kind == "other":
        expected = audit(y, other.predict(X), sensitive_features=A, subgroups="marginals", top=3)
    else:
        expected = audit(
            y, model.predict_proba(X)[:, 1], sensitive_features=A, subgroups="marginals", top=3,
            decision_probabilities=True,
        )  # fmt: skip
    display = AuditDisplay.from_estimator(model, X, y, sensitive_features=A, subgroups="marginals")
    rates = [one.rate for one in expected.top]
    np.testing.assert_allclose([one.rate for one in display.groups if one.found], rates)


@pytest.fixture(scope="module")
def scored():
    """A thousand scores, which are too high for the blue ones."""
    rng = np.random.default_rng(2)
    race = rng.choice(["blue", "green"], 1000)
    score = rng.random(1000).round(2)
    chance = np.where(race == "blue", score / 2, score)
    return (rng.random(1000) < chance).astype(int), score, {"race": race}


def test_the_calibration_of_a_subgroup(scored):
    y, p, features = scored
    display = SubgroupCalibrationDisplay.from_predictions(
        y, p, sensitive_features=features, subgroups="marginals"
    )
    curve = display.curve
    assert curve.rule.describe() == "race = blue"
    drawn = {line.get_label(): line for line in display.ax_.get_lines()}
    for words, points in (("everyone", curve.everyone), ("race = blue", curve.group)):
        assert len(points) == 10
        assert drawn[words].get_xdata().tolist() == [one.predicted for one in points]
        assert drawn[words].get_ydata().tolist() == [one.observed for one in points]
    # By hand: of the blue ones with scores of .5 to .6.
    inside = (features["race"] == "blue") & (p >= 0.5) & (p < 0.6)
    assert curve.group[5].observed == pytest.approx(y[inside].mean())
    assert curve.group[5].predicted == pytest.approx(p[inside].mean())
    assert display.ax_.get_ylabel() == "happened"


def test_reports_without_a_curve_are_not_drawn(scored):
    y, p, features = scored
    report = audit(y, p, sensitive_features=features, notion="multiaccuracy")
    with pytest.raises(ValueError, match="report has no calibration curve"):
        SubgroupCalibrationDisplay.from_report(report)
    with pytest.raises(TypeError, match="must be an AuditReport"):
        SubgroupCalibrationDisplay.from_report("report")
    # What each group is compared with is its own prediction.
    display = AuditDisplay.from_report(report)
    assert {one.words: one.expected for one in display.groups}["race = blue"] == pytest.approx(
        p[features["race"] == "blue"].mean()
    )
    assert "predicted" in display.ax_.get_legend_handles_labels()[1]


def test_a_frontier_s_points(frontier):
    display = FrontierDisplay.from_frontier(frontier)
    drawn = [
        (float(one.get_xdata()[0]), float(one.get_ydata()[0]), one.get_markerfacecolor() == "white")
        for one in display.ax_.get_lines()
        if one.get_marker() in "os" and len(one.get_xdata()) == 1 and one.get_markersize() == 7
    ]  # fmt: skip
    expected = [
        (one.error, one.unfairness, one.dominated)
        for point in frontier.points
        for one in (point.train, point.test)
    ]
    assert sorted(drawn) == sorted(expected)
    for sample, words in (("train", "training rows"), ("test", "test rows")):
        seen = [getattr(point, sample) for point in frontier.points]
        kept = sorted((one.error, one.unfairness) for one in seen if not one.dominated)
        np.testing.assert_allclose(line(display.ax_, words), kept)
    bars = [segment for one in display.ax_.collections for segment in one.get_segments()]
    ends = sorted(float(segment[1, 1]) for segment in bars)
    assert ends == sorted(
        one.upper_bound for point in frontier.points for one in (point.train, point.test)
    )
    knees = [text for text in display.ax_.get_legend_handles_labels()[1] if "knee" in text]
    assert knees == [f"knee: gamma = {point.gamma:g}" for point in frontier.suggested]
    labels = display.ax_.get_legend_handles_labels()[1]
    for marker, kind, words in (("*", "today", "your model today"),
                                ("X", "unconstrained", "unconstrained")):  # fmt: skip
        places = [
            (float(one.get_xdata()[0]), float(one.get_ydata()[0]))
            for one in display.ax_.get_lines()
            if one.get_marker() == marker and len(one.get_xdata()) == 1
        ]
        models = [one for one in frontier.references if one.kind == kind]
        told = [(s.error, s.unfairness) for one in models for s in (one.train, one.test)]
        assert sorted(places) == sorted(told)
        assert labels.count(words) == 1


def test_a_frontier_of_several_notions_needs_a_name(data, frontier):
    both = pareto_frontier(
        SubgroupParityClassifier(LinearRegression(), subgroups="marginals", max_iter=5, tol=None),
        data.data, data.target, sensitive_features=data.sensitive_features,
        gammas=[0.01], notions=["false_positive_rate", "statistical_parity"],
        audit_subgroups="marginals",
    )  # fmt: skip
    with pytest.raises(ValueError, match="has false_positive_rate, statistical_parity; name one"):
        FrontierDisplay.from_report(both)
    display = FrontierDisplay.from_report(both, notion="statistical_parity")
    assert [point.notion for point in display.points] == ["statistical_parity"]
    with pytest.raises(ValueError, match="notion='error_rate'"):
        FrontierDisplay.from_report(frontier, notion="error_rate")


def test_an_empty_frontier_says_so():
    display = FrontierDisplay.from_report(ParetoFrontier(()))
    assert display.ax_.texts[0].get_text() == "The frontier has no points."


def test_a_trajectory(fitted):
    display = TrajectoryDisplay.from_estimator(fitted)
    history = fitted.history_
    points = np.column_stack([history["error"], history["unfairness"]])
    np.testing.assert_allclose(display.points_.get_offsets(), points)
    np.testing.assert_array_equal(display.points_.get_array(), history["round"])
    np.testing.assert_allclose(line(display.ax_, "gamma")[:, 1], 0.004)
    np.testing.assert_allclose(line(display.ax_, "first: round 1"), points[:1])
    np.testing.assert_allclose(line(display.ax_, f"last: round {fitted.n_iter_}"), points[-1:])
    assert len(display.figure_.axes) == 2
    alone = TrajectoryDisplay.from_estimator(fitted, colorbar=False)
    assert len(alone.figure_.axes) == 1


def test_convergence(fitted):
    display = ConvergenceDisplay.from_estimator(fitted)
    history = fitted.history_
    np.testing.assert_allclose(
        line(display.ax_, "error"), np.column_stack([history["round"], history["error"]])
    )
    right = display.unfairness_ax_
    np.testing.assert_allclose(
        line(right, "unfairness"), np.column_stack([history["round"], history["unfairness"]])
    )
    np.testing.assert_allclose(line(right, "gamma")[:, 1], 0.004)
    assert f"gap at the end {fitted.gap_:.4f}" in display.ax_.get_xlabel()
    styles = [one.get_linestyle() for one in (*display.ax_.get_lines(), *right.get_lines())]
    assert len(set(styles)) == 3  # never colour alone


def test_a_history_that_was_kept(fitted):
    kept = json.loads(json.dumps(
        {name: fitted.history_[name].tolist() for name in ("round", "error", "unfairness")}
    ))  # fmt: skip
    for kind in (TrajectoryDisplay, ConvergenceDisplay):
        display, other = kind.from_report(kept, gamma=fitted.gamma), kind.from_estimator(fitted)
        np.testing.assert_array_equal(display.error, other.error)
        np.testing.assert_array_equal(display.rounds, other.rounds)
        assert display.gamma == other.gamma
        with pytest.raises(TypeError, match=r"history must be a mapping(?s:.*)from_estimator\(\)"):
            kind.from_report(fitted, gamma=0.1)


def test_a_history_of_one_round():
    for kind in (TrajectoryDisplay, ConvergenceDisplay):
        ax = kind([1], [0.2], [0.0], gamma=0.0).plot()
        ax.get_figure().canvas.draw()
    with pytest.raises(ValueError, match="rounds is empty: it has no rows"):
        ConvergenceDisplay([], [], [], gamma=0.1)


def test_a_surface(toy):
    _, y, protected = toy
    surface = discrimination_surface(
        y, {"a": 1 - y[::-1], "b": y[::-1]}, sensitive_features=protected, min_group_size=60,
        attributes=("age", ("race", "blue")),
    )  # fmt: skip
    display = SurfaceDisplay.from_surface(surface, 0)
    drawn = display.mesh_.get_array().reshape(21, 21)
    expected = surface.rounds[0].unfairness
    np.testing.assert_allclose(drawn.filled(np.nan), expected.T)
    assert display.mesh_.get_clim() == (-surface.limit, surface.limit)
    i, j = surface.rounds[0].place
    np.testing.assert_allclose(line(display.ax_, "worst"), [[surface.thetas[i], surface.thetas[j]]])
    hidden = np.argwhere(np.isnan(expected))
    assert len(hidden) > 1
    np.testing.assert_allclose(line(display.ax_, "not shown"), surface.thetas[hidden])
    assert display.ax_.get_ylabel() == "θ₂: weight of race = blue"
    with pytest.raises(
        ValueError, match=r"number=2 is out of range; the surface has 2 rounds: a, b"
    ):
        SurfaceDisplay(surface, 2)


def test_a_surface_of_an_estimator_and_of_nobody(data, fitted):
    how = {"sensitive_features": data.sensitive_features, "attributes": ("number_0", "category_0")}
    display = SurfaceDisplay.from_estimator(fitted, data.data, data.target, **how)
    p = fitted.predict_proba(data.data)[:, 1]
    expected = discrimination_surface(
        data.target, {"SubgroupParityClassifier": p}, decision_probabilities=True, **how
    )
    assert display.surface.to_dict() == expected.to_dict()
    numbers = {"a": data.data[:, 0], "b": data.data[:, 1]}
    nobody = SurfaceDisplay.from_predictions(
        data.target, 1 - data.target, sensitive_features=numbers, min_group_size=400
    )
    assert nobody.mesh_ is None
    assert "No group has at least 400 rows" in nobody.ax_.texts[0].get_text()


def test_the_axes_that_was_given_is_drawn_on(report, frontier, fitted, toy):
    _, y, protected = toy
    surface = discrimination_surface(
        y, 1 - y, sensitive_features=protected, attributes=("age", "sex")
    )
    calls = [
        lambda ax: AuditDisplay.from_report(report, ax=ax),
        lambda ax: FrontierDisplay.from_report(frontier, ax=ax),
        lambda ax: TrajectoryDisplay.from_estimator(fitted, ax=ax),
        lambda ax: ConvergenceDisplay.from_estimator(fitted, ax=ax),
        lambda ax: SurfaceDisplay.from_surface(surface, ax=ax),
    ]
    for call in calls:
        figure, (left, right) = plt.subplots(1, 2)
        display = call(left)
        assert display.ax_ is left
        assert display.figure_ is figure
        assert not right.has_data()
        assert display.plot(right) is right is display.ax_
        assert right.has_data()
        new = display.plot()
        assert new is display.ax_
        assert display.figure_ is not figure


def test_wrong_types_and_unfitted_models_are_named(data):
    X, y, A = data.data, data.target, data.sensitive_features
    with pytest.raises(TypeError, match="report must be an AuditReport"):
        AuditDisplay.from_report({"verdict": "fine"})
    with pytest.raises(TypeError, match="frontier must be a ParetoFrontier"):
        FrontierDisplay.from_report([])
    with pytest.raises(TypeError, match="surface must be a DiscriminationSurface"):
        SurfaceDisplay.from_surface(np.zeros((2, 2)))
    for kind in (TrajectoryDisplay, ConvergenceDisplay):
        with pytest.raises(TypeError, match="which keep a history of their rounds"):
            kind.from_estimator(LogisticRegression())
        with pytest.raises(NotFittedError):
            kind.from_estimator(SubgroupParityClassifier())
    for kind in (AuditDisplay, SurfaceDisplay):
        with pytest.raises(TypeError, match="estimator must be a fitted classifier"):
            kind.from_estimator("model", X, y, sensitive_features=A)
        with pytest.raises(NotFittedError):
            kind.from_estimator(LogisticRegression(), X, y, sensitive_features=A)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    message = re.escape("pip install 'gerrymend[plot]'")
    display = ConvergenceDisplay([1], [0.1], [0.1], gamma=0.1)
    with monkeypatch.context() as absent:
        for name in ("matplotlib", "matplotlib.pyplot"):
            absent.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=message):
            display.plot()


def test_a_legend_of_two_rates_is_inside_the_figure(data):
    decided = (data.data[:, 0] > 0).astype(int)
    display = AuditDisplay.from_predictions(
        data.target, decided, sensitive_features=data.sensitive_features, notion="equalized_odds"
    )
    figure = display.figure_
    figure.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= legend.y0 < legend.y1 <= figure.bbox.y1


def test_a_surface_names_its_model(data):
    attributes = {name: data.sensitive_features[name] for name in list(data.sensitive_features)[:1]}
    attributes["number"] = data.data[:, 1]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data.data, data.target)
    display = SurfaceDisplay.from_estimator(
        model, data.data, data.target, sensitive_features=attributes
    )
    assert display.ax_.get_legend().get_title().get_text() == "LogisticRegression"
