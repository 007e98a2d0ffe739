# /// script
# requires-python = ">=3.11"
# dependencies = ["opfield[dashboard]"]
# [tool.marimo.display]
# theme = "system"
# ///
# The signatures of cells are marimo's: it writes them from what a cell reads.
# mypy: allow-untyped-defs
# ruff: noqa: N803
"""The page as a marimo notebook: `opfield dashboard` serves it, and `opfield dashboard --code` prints it for your own.

`board.view` reads what an address shows; `view.told` holds the rows, by name, for cells of your own to work with.
"""

import marimo

app = marimo.App(width="full", app_title="opfield")


@app.cell
def _():
    import marimo as mo

    from opfield.dashboard import Address, as_html, board_of, charts_of

    return Address, as_html, board_of, charts_of, mo


@app.cell
def _(Address, board_of, mo):
    # The warehouse is $OPFIELD_WAREHOUSE, or ./warehouse; name another with board_of("folder").
    board = board_of()
    # What is shown: ?campaign=…&candidate=…&case=… in the URL, or Address(campaign="name") here.
    address = Address.of(mo.query_params().to_dict())
    return address, board


@app.cell
def _(address, board, mo):
    shown, show = mo.state(board.view(address))
    return show, shown


@app.cell
def _(as_html, charts_of, mo, shown):
    charts = {name: mo.as_html(chart).text for name, chart in charts_of(shown()).items()}
    mo.Html(as_html(shown(), charts))
    return


@app.cell
def _(mo):
    tick = mo.ui.refresh(options=["0.5s", "2s", "10s"], default_interval="0.5s")
    mo.Html(f'<footer class="op-live"><span>looks for what is new every</span> {tick}</footer>')
    return (tick,)


@app.cell
def _(address, board, show, shown, tick):
    # Runs at each tick. While no file changes it asks the file system and nothing else.
    tick  # noqa: B018 - reading it is what makes this cell run again
    if board.mark(address) != shown().mark:
        show(board.view(address))
    return


if __name__ == "__main__":
    app.run()
