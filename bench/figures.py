"""How a benchmark says what it reached: a line for each figure, and an exit code for all."""

MISSED = 3  # the exit code when a figure was missed; any other but 0 means that the bench broke
MARK = "= "
_missed: list[str] = []


def show(
    what: str, value: float, unit: str = "×", *, most: float | None = None, least: float = 0.0
) -> None:
    """Prints the figure beside what is to be reached: at most, or at least, so much."""
    goal = f">= {least:g}" if most is None else f"<= {most:g}"
    is_met = value >= least if most is None else value <= most
    if not is_met:
        _missed.append(what)
    digits = 0 if value >= 100 else 2
    shown = f"{value:,.{digits}f} {unit}"
    print(f"{MARK}{what:46} {shown:>12}   {goal:>9}   {'met' if is_met else 'MISSED'}", flush=True)


def code() -> int:
    """0 when every figure that was shown is met."""
    return MISSED if _missed else 0
