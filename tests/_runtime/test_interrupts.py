"""Ctrl-C as compiled code hands it on, as threads of a sweep hear of it, and where it is lost."""

import ctypes
import signal
import sys
import threading

import pytest

from gerrymend import audit
from gerrymend._runtime.interrupts import (
    HeldInterrupts,
    StoppableTasks,
    check_stopped,
    interruptible,
)
from gerrymend.auditing import examine
from gerrymend.cli.exit_codes import INTERRUPTED
from gerrymend.cli.shared import guarded
from gerrymend.subgroups.listed import ListedClass


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_interrupt_is_known_however_often_it_was_wrapped(depth):
    @interruptible
    def compiled():
        error = KeyboardInterrupt()
        for _ in range(depth):
            wrapped = SystemError("returned a result with an exception set")
            wrapped.__cause__ = error
            error = wrapped
        raise error

    with pytest.raises(KeyboardInterrupt):
        compiled()


def test_other_errors_of_compiled_code_stay_what_they_are():
    @interruptible
    def compiled():
        raise SystemError("bad argument") from ValueError("of another kind")

    with pytest.raises(SystemError, match="bad argument"):
        compiled()


def look_once(begun, stopping):
    begun.set()
    assert stopping.wait(60)
    check_stopped()


def look_between_rounds(begun, stopping):
    with HeldInterrupts() as interrupts:
        begun.set()
        assert stopping.wait(60)
        interrupts.check()


def call_what_is_interruptible(begun, stopping):
    begun.set()
    assert stopping.wait(60)
    interruptible(int)()


@pytest.mark.parametrize("task", [look_once, look_between_rounds, call_what_is_interruptible])
def test_a_task_hears_that_it_is_stopped_and_is_waited_for(task):
    """The task looks only after it was stopped; stop() comes back only after the task has ended."""
    tasks, begun, heard = StoppableTasks(), threading.Event(), []

    def work():
        try:
            tasks.run(task, begun, tasks._stopped)
        except KeyboardInterrupt as error:
            heard.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    tasks.stop()
    assert tasks._n_running == 0
    thread.join()
    assert len(heard) == 1


def test_no_task_begins_after_a_stop():
    tasks, done = StoppableTasks(), []
    tasks.stop()
    with pytest.raises(KeyboardInterrupt):
        tasks.run(done.append, 1)
    assert not done
    check_stopped()  # this thread has no task any more


@pytest.fixture
def press_and_lose(monkeypatch):
    """Press Ctrl-C in a function that C calls: Python prints KeyboardInterrupt, and drops it."""
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: lost.append(told.exc_type))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    called_by_c = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
    yield lambda *_: called_by_c()
    signal.signal(signal.SIGINT, before)
    assert lost == [KeyboardInterrupt]


PEOPLE = {"race": ["blue", "green"] * 20, "sex": ["F", "F", "M", "M"] * 10}


def audit_people(**how):
    return audit([0] * 40, [1, 0, 0, 0] * 10, sensitive_features=PEOPLE, subgroups="marginals",
                 **how)  # fmt: skip


def test_ctrl_c_that_a_draw_lost_ends_the_permutations(press_and_lose):
    """LLVM calls Python while numba compiles: a permutation run went on, and exited with 0."""
    told = []

    def on_draw(*done):
        told.append(done)
        press_and_lose()

    with pytest.raises(KeyboardInterrupt):
        audit_people(n_permutations=99, on_draw=on_draw)
    assert len(told) == 1


def test_ctrl_c_that_compilation_lost_ends_an_audit_before_its_search(press_and_lose, monkeypatch):
    monkeypatch.setattr(examine, "compile_proofs", press_and_lose)
    monkeypatch.setattr(ListedClass, "prove", lambda *_, **__: pytest.fail("a proof was begun"))
    with pytest.raises(KeyboardInterrupt):
        audit_people()


def test_ctrl_c_that_was_lost_is_raised_at_the_end_at_the_latest(press_and_lose):
    with pytest.raises(KeyboardInterrupt):
        interruptible(press_and_lose)()
    check_stopped()  # it is over, and does not end what comes next


def test_a_handler_of_the_users_own_that_raises_nothing_ends_nothing():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        interruptible(signal.raise_signal)(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def test_ctrl_c_that_was_lost_while_modules_were_imported_has_its_exit_code(press_and_lose, capsys):
    """Callbacks of weak references drop it as well, as that of importlib's locks."""

    def work(_):
        press_and_lose()
        return 0

    assert guarded(work) == INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"


def test_ctrl_c_that_was_lost_before_a_command_begins_ends_it(press_and_lose):
    with HeldInterrupts():
        press_and_lose()
        assert guarded(lambda _: pytest.fail("the command was begun")) == INTERRUPTED
