"""Commands of the command line, called in this process."""

import importlib
import re
import shlex

import typer
from typer.testing import CliRunner


def call(command, *arguments, stdin=None):
    """Return the exit code, standard output and standard error of a command."""
    done = CliRunner(env={"COLUMNS": "80"}).invoke(
        app_of(command), [command, *map(str, arguments)], input=stdin
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def app_of(command):
    app = typer.Typer()
    app.callback()(lambda: None)
    importlib.import_module(f"gerrymend.cli.{command}").add_to(app)
    return app


def options_of(command):
    """Return the names of all options of a command."""
    found = typer.main.get_command(app_of(command)).commands[command]
    return {name for parameter in found.params for name in (*parameter.opts, "--help")}


def examples_of(command):
    """Return the command lines in the help of a command, as a shell would read them."""
    code, text, _ = call(command, "--help")
    assert code == 0
    joined = re.sub(r"\\ *\n +", "", text)
    return [shlex.split(line) for line in joined.splitlines() if line.startswith(" gerrymend ")]
