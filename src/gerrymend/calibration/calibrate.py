"""calibrate(): learn patches from scores and what happened, without a model."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.from_rows import Given, rows_of
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.calibration.learn import learn
from gerrymend.calibration.patches import ScorePatches
from gerrymend.calibration.settings import BUDGET, LEVEL, MAX_PATCHES, N_DRAWS, Settings
from gerrymend.calibration.table import ScoredRows
from gerrymend.inputs.classes import AUDIT, Decided, Names
from gerrymend.inputs.identifiers import check_identifiers
from gerrymend.inputs.scores import NO_LABELS, Scores, check_varied, score_name
from gerrymend.notions import SCORE, Multicalibration, NotionLike


def calibrate(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: NotionLike = "multicalibration",
    subgroups: Any = "conjunctions",
    alpha: float | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    level: float = LEVEL,
    max_patches: int = MAX_PATCHES,
    n_draws: int = N_DRAWS,
    min_group_size: int = MIN_GROUP_SIZE,
    budget: float = BUDGET,
    random_state: int = 0,
    data: Any = None,
    on_step: Callable[[str, int, int | None], None] | None = None,
) -> ScorePatches:
    """Learn patches after which scores are right in every subgroup, as far as rows can tell.

    The subgroup and the interval of the score where what happened is furthest from what was
    predicted is changed so that both agree on average; and again, until it is proven that no
    subgroup exceeds `alpha`, or what is left can't be told from what chance makes of right scores.
    Before that, scores that are too sure of themselves are put right for everyone, together with
    what many groups are off by, a little each: all of it drawn towards no change, and made only
    where one test says that it is no chance.

    Parameters
    ----------
    y_true : array of n_rows labels of two values, or numbers
        What happened.
    y_pred : array of n_rows scores
        Probabilities of the positive label, or predictions of the number. They must be of rows that
        the model was not trained on, or patches learn its training: see `SubgroupCalibrator`.
    sensitive_features
        As in audit().
    notion : str or notion of scores, default="multicalibration"
        "multicalibration", for scores that are right within every interval of them, or
        "multiaccuracy", over all scores. `Multicalibration(bins=20)` has finer intervals.
    subgroups : str or SubgroupClass, default="conjunctions"
        The class of subgroups, as in audit(); of one that is named, protected numbers are cut into
        at most 16 bins, since the search is repeated for every draw: `Conjunctions()` cuts at every
        value.
    alpha : float or None, default=None
        The violation that is small enough: a group's share of all rows, times how far what happened
        is from what was predicted. None goes on for as long as chance is exceeded.
    sample_weight, pos_label
        As in audit().
    level : float, default=0.05
        The part of what chance makes of right scores that may be as bad as a subgroup that is
        changed. Right scores are left alone with a probability of 1 − 1.2·level, as the change of
        all together is tested at a fifth of it. 1 doesn't ask about chance, and learns it.
    max_patches : int, default=200
        The most patches to make.
    n_draws : int, default=99
        Draws of what chance makes; each takes a search.
    min_group_size
        Groups of fewer rows are neither changed nor told.
    budget : float, default=30.0
        Seconds for a proof, of classes whose search is no proof itself.
    random_state : int, default=0
        Seed of the draws, and of the folds by which it is chosen how strongly changes are drawn
        towards none.
    data
        As in audit().
    on_step : callable or None, default=None
        Called as on_step(words, done, of) while patches are learnt.

    Returns
    -------
    ScorePatches
        To be applied to the scores of any rows, printed, cut short and saved.

    See Also
    --------
    SubgroupCalibrator : A model whose scores are right in every subgroup, as far as rows can tell.
    ScorePatches
        Patches of a score in the order in which they are applied, as `calibrate` learns them.
    check_patches
        Verify patches against the rows that they were learnt on, in exact rational arithmetic.

    Examples
    --------
    Of men it happens to as many as was predicted, and of women to fewer. That is a change for
    everyone, and one for men that takes it back.

    >>> from gerrymend import calibrate
    >>> A = {"sex": ["F"] * 200 + ["M"] * 200}
    >>> score = ([0.3] * 100 + [0.7] * 100) * 2
    >>> happened = []
    >>> for of_100 in (15, 50, 30, 70):
    ...     happened += [1] * of_100 + [0] * (100 - of_100)
    >>> patches = calibrate(happened, score, sensitive_features=A)
    >>> for patch in patches:
    ...     print(patch.rule, "|", patch.change)
    everyone | odds^0.9994 × 0.4506
    sex = M | odds × 2.104
    >>> patches.apply([0.7, 0.7], {"sex": ["F", "M"]}).round(2).tolist()
    [0.51, 0.69]
    """
    settings = Settings.check(
        notion=notion,
        subgroups=subgroups,
        alpha=alpha,
        level=level,
        max_patches=max_patches,
        n_draws=n_draws,
        min_group_size=min_group_size,
        budget=budget,
        random_state=random_state,
        on_step=on_step,
    )
    given = rows_of(data, Given(y_true, y_pred, sensitive_features, sample_weight))
    decided = Decided(pos_label=pos_label)
    read = Scores.read(*given[:4], decided=decided, target=settings.notion.target)
    check_identifiers(read.rows.columns, len(read.rows.p))
    return learn_patches(read, settings, name=None if data is None else y_pred)


@interruptible
def learn_patches(
    read: Scores, settings: Settings, *, name: Any = None, names: Names = AUDIT
) -> ScorePatches:
    """Learn patches from rows that were read; `name` is that of the column of scores, if any."""
    rows = read.rows
    assert rows.y is not None
    if isinstance(settings.notion, Multicalibration):
        check_varied(rows.p, names.decisions)
        score = score_name(settings.notion.score, name, rows.columns, SCORE)
        settings = replace(settings, score=score)
    probabilities = read.labels != NO_LABELS
    if probabilities:
        settings.check_alpha(int((rows.weight > 0).sum()))
    scored = ScoredRows.of(rows.y, rows.p, rows.weight, rows.columns, probabilities=probabilities)
    learnt = learn(scored, settings)
    return ScorePatches(
        patches=learnt.patches,
        attributes=scored.kinds,
        probabilities=probabilities,
        score=settings.score,
        whole=tuple(column.name for column in rows.columns if column.is_whole),
        standing=learnt.standing,
    )
