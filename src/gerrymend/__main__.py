"""Run the command line as `python -m gerrymend`."""

from gerrymend.cli import main

if __name__ == "__main__":
    main()
