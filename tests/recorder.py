"""A callback of scikit-learn that writes down how it was called."""


class Recorder:
    """Every call that scikit-learn makes of a callback."""

    def __init__(self, stop_after=None):
        self.calls, self.stop_after = [], stop_after
        self.contexts, self.fitted = [], None

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")
        self.contexts.append(context)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.calls.append(f"end {context.task_name}")
        if context.task_name == "fit":
            self.fitted = X, y, fitted_estimator
        if self.calls.count("end round") == self.stop_after:
            raise KeyboardInterrupt
