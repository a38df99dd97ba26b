"""Ctrl-C as compiled code hands it on, and as threads of a sweep hear of it."""

import threading

import pytest

from gerrymend._runtime.interrupts import (
    HeldInterrupts,
    StoppableTasks,
    check_stopped,
    interruptible,
)


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
