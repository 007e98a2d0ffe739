"""Write `sql/reference/t_quantiles.sql` from SciPy, and the coefficients of the macros that go on from its last row.

Run it from the repository: `python scripts/t_quantiles.py`. The test suite runs `table_text` and compares.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from scipy.stats import norm, t

PROBABILITIES = {"quantile": 0.975, "power_quantile": 0.8}
LAST_DF = 200

_HEADER = """\
-- Quantiles of Student's t at .975, for two-sided intervals of 95 %, and at .8, for effects that are found with that
-- power. Written by scripts/t_quantiles.py from SciPy; beyond the last row the macros t_quantile and t_power_quantile
-- expand.
-- Grain: one row for each number of degrees of freedom from 1 to 200.
-- columns:
--   df: Degrees of freedom.
--   quantile: The value that the variable stays below with probability .975.
--   power_quantile: The value that the variable stays below with probability .8.
"""


def table_text() -> str:
    """Return the text of `sql/reference/t_quantiles.sql`."""
    columns = ", ".join(["df", *PROBABILITIES])
    quantiles = {df: [float(t.ppf(each, df)) for each in PROBABILITIES.values()] for df in range(1, LAST_DF + 1)}
    rows = [f"    ({df}, {', '.join(f'{each!r}e0' for each in listed)})" for df, listed in quantiles.items()]
    return f"{_HEADER}select {columns}\nfrom (values\n" + ",\n".join(rows) + f"\n) as listed ({columns})\n"


def expansion_terms(probability: float) -> tuple[float, ...]:
    """Return z and the coefficients of 1/df to 1/df⁴ in a quantile's expansion (Abramowitz and Stegun 26.7.5)."""
    z = Fraction(float(norm.ppf(probability)))
    polynomials = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return tuple(float(each) for each in polynomials)


if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    (root / "sql" / "reference" / "t_quantiles.sql").write_text(table_text(), encoding="utf-8")
    for column, probability in PROBABILITIES.items():
        print(f"terms of sql/macros/t_{column}.sql:", *map(repr, expansion_terms(probability)))
