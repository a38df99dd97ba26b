"""A command that takes one FILE, and columns after options: words that are left over get a hint."""

from typing import Any

from typer.core import TyperCommand

from gerrymend.reporting.wording import visible


class ColumnsCommand(TyperCommand):
    """Say how columns are separated, where blanks made arguments of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments, which is nothing; else end with a hint."""
        ctx.allow_extra_args = True  # so that they are refused here
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            ctx.fail(
                f"Got unexpected extra arguments: {visible(' '.join(left))}. Separate columns by "
                "commas, as in --protected sex,age, or repeat the option; put names with blanks "
                "in quotation marks."
            )
        return left
