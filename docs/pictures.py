"""Draw the README's pictures: `make pictures`. The page is photographed in Chromium."""

import shutil
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from playwright.sync_api import sync_playwright
from sklearn.linear_model import LogisticRegression

from gerrymend import FrontierDisplay, SubgroupParityClassifier, audit, pareto_frontier
from gerrymend.datasets import make_gerrymandered, make_intersectional

IMAGES = Path(__file__).parent / "images"
CALM = "#4878a8"
ALARMING = "#c44e52"


def gerrymandering(path: Path) -> None:
    """Draw false positive rates that are alike by race and by gender, and unlike by both."""
    people = make_gerrymandered(2000, random_state=0)
    attributes = {name: np.asarray(people.sensitive_features[name]) for name in ("race", "gender")}
    negatives = np.asarray(people.target) == 0
    decided = np.asarray(people.score) >= 0.5

    def rate(**values: str) -> float:
        """Return the false positive rate of a group."""
        members = negatives.copy()
        for name, value in values.items():
            members &= attributes[name] == value
        return float(decided[members].mean())

    races = sorted(set(attributes["race"]))
    genders = sorted(set(attributes["gender"]), reverse=True)
    single = {race: rate(race=race) for race in races}
    single |= {gender: rate(gender=gender) for gender in genders}
    crossed = {
        f"{race} {gender}": rate(race=race, gender=gender) for race in races for gender in genders
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.6), sharey=True, layout="constrained")
    titles = ("One attribute at a time: fair", "Where two meet: not at all")
    for ax, rates, title in zip(axes, (single, crossed), titles, strict=True):
        colours = [ALARMING if value > 0.75 else CALM for value in rates.values()]
        bars = ax.bar(list(rates), list(rates.values()), color=colours, width=0.6)
        ax.bar_label(bars, fmt="{:.0%}", padding=2)
        ax.set_title(title, fontsize=11)
        ax.set_ylim(0, 1.15)
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("false positive rate")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def frontier(path: Path) -> None:
    """Draw error against unfairness of models for several gammas."""
    data = make_intersectional(5000, random_state=0)
    model = SubgroupParityClassifier(LogisticRegression(), subgroups="value_sets", random_state=0)
    points = pareto_frontier(
        model,
        data.data,
        data.target,
        sensitive_features=data.sensitive_features,
        gammas=[0.003, 0.005, 0.01, 0.015, 0.02, 0.03],
        test_size=0.3,
        random_state=0,
    )
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    FrontierDisplay.from_frontier(points).plot(ax=ax)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def report(path: Path) -> None:
    """Take a picture of the top of an audit's page."""
    people = make_gerrymandered(2000, random_state=0)
    page = audit(
        people.target,
        (np.asarray(people.score) >= 0.5).astype(int),
        sensitive_features=people.sensitive_features,
        favourable="negative",
        n_permutations=199,
    ).to_html(title="Loans, third quarter", model="credit-7", owner="Risk")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        shown = browser.new_page(viewport={"width": 1000, "height": 760})
        shown.set_content(page)
        shown.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    gerrymandering(IMAGES / "gerrymandering.png")
    frontier(IMAGES / "frontier.png")
    report(IMAGES / "report.png")
