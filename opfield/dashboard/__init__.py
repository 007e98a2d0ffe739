"""The dashboard: a live page over a warehouse that reads only, and the parts of it for notebooks of one's own."""

from opfield.dashboard.address import Address
from opfield.dashboard.board import Board, View
from opfield.dashboard.board import board as board_of
from opfield.dashboard.plots import charts_of
from opfield.dashboard.render import as_html

__all__ = ["Address", "Board", "View", "as_html", "board_of", "charts_of"]
