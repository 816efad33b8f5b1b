"""How the book's figures and tables look, and how they leave a notebook.

A figure leaves as one output: the picture, its alternative text, its caption, and the data that
was plotted. Stored notebooks are compared output by output, so the data and a digest of what was
drawn guard what the picture itself cannot: nobody compares pixels.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator
from numpy.typing import NDArray
from PIL import Image

from ldpkv.papers.evidence import Result, num

# Okabe-Ito: told apart by the colour-blind. Papers' mechanisms take the strong colours.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, YELLOW, GREY, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#7F7F7F",
    "#000000",
)
STYLES: Mapping[str, dict[str, Any]] = {
    "PCKV-UE": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "PCKV-GRR": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "LRRKV": {"color": GREEN, "marker": "D", "linestyle": "-."},
    "HISKV": {"color": GREEN, "marker": "D", "linestyle": "-."},
    "PrivKV": {"color": ORANGE, "marker": "^", "linestyle": ":"},
    "PrivKVM": {"color": ORANGE, "marker": "^", "linestyle": ":"},
    "PrivKVM (1 + 5 virtual)": {"color": PURPLE, "marker": "v", "linestyle": ":"},
    "KVUE": {"color": GREY, "marker": "P", "linestyle": "-"},
    "KVOH": {"color": SKY, "marker": "X", "linestyle": "--"},
    "optimised": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "non-optimised": {"color": ORANGE, "marker": "^", "linestyle": "--"},
    "naive": {"color": GREY, "marker": "P", "linestyle": ":"},
}
SERIES = tuple(
    {"color": color, "marker": marker, "linestyle": line}
    for color, marker, line in zip(
        (BLUE, VERMILION, GREEN, ORANGE, PURPLE, GREY),
        "osD^vP",
        ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1))),
        strict=True,
    )
)
WIDTH = 8.0  # inches; 900 px at most on the page at 2x resolution
DPI = 200


def new_figure(columns: int = 1, *, height: float = 3.4, rows: int = 1) -> tuple[Figure, Any]:
    """Make an empty figure with lettered panels.

    Parameters
    ----------
    columns, rows : int
        Panels.
    height : float, default 3.4
        Inches per row.

    Returns
    -------
    figure, axes
        `axes` is a flat array, or one Axes for a single panel.
    """
    sns.set_theme(style="ticks", context="notebook", font_scale=0.85)
    panels = columns * rows
    width = WIDTH if columns > 1 else 0.8 * WIDTH
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height * rows), squeeze=False, layout="constrained"
    )
    flat = axes.ravel()
    for letter, axis in zip("abcdefghij"[:panels], flat, strict=True):
        axis.spines[["top", "right"]].set_visible(False)
        if panels > 1:
            axis.set_title(f"({letter})", loc="left", fontsize="medium", fontweight="bold")
    return figure, flat if panels > 1 else flat[0]


def style(label: str, position: int = 0) -> dict[str, Any]:
    """Colour, marker and line of a series: by name where the book has one, else by position."""
    return dict(STYLES.get(label, SERIES[position % len(SERIES)]), markersize=4.5, linewidth=1.5)


def label_ends(axis: Axes, labels: Mapping[str, tuple[float, float]], gap: float = 0.055) -> None:
    """Write each series' name at the end of its line, moved apart where they would overlap.

    Parameters
    ----------
    axis : Axes
        With its final limits and scale.
    labels : mapping of str to (x, y)
        Name -> last point of the line.
    gap : float
        Smallest vertical distance, as a share of the axis' height.
    """
    to_axes = axis.transData + axis.transAxes.inverted()
    ends = sorted((to_axes.transform(point)[1], name) for name, point in labels.items())
    placed: list[float] = []
    for height, _ in ends:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    # Where the stack grew past the top, push it back down from there.
    for index in range(len(placed) - 1, -1, -1):
        ceiling = 1.0 if index == len(placed) - 1 else placed[index + 1] - gap
        placed[index] = min(placed[index], ceiling)
    for position, (_, name) in zip(placed, ends, strict=True):
        order = list(labels).index(name)
        axis.text(
            1.02,
            position,
            name,
            transform=axis.transAxes,
            color=style(name, order)["color"],
            va="center",
            fontsize="small",
        )


def log_axis(axis: Axes, which: str = "y") -> None:
    """Make an axis logarithmic: every decade labelled, steps in between only on short axes."""
    side = axis.yaxis if which == "y" else axis.xaxis
    (axis.set_yscale if which == "y" else axis.set_xscale)("log")
    side.set_major_locator(LogLocator(10, numticks=12))
    side.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(1.3, 0.5)))


def lines_with_bands(
    axis: Axes,
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    low: str | None = None,
    high: str | None = None,
    theory: str | None = None,
    direct: bool = True,
) -> None:
    """Draw measured points with bands, theory as a line, one series for each value of a column.

    Parameters
    ----------
    axis : Axes
        Where.
    table : DataFrame
        One row a point.
    x, y, series : str
        Columns.
    low, high : str, optional
        Columns of the band's ends.
    theory : str, optional
        Column drawn as the line; measured points then stand alone.
    direct : bool, default True
        Write names at line ends rather than in a legend.
    """
    ends = {}
    for position, (name, part) in enumerate(table.groupby(series, sort=False)):
        look = style(str(name), position)
        if theory is not None:
            axis.plot(part[x], part[theory], **{**look, "marker": ""})
            look["linestyle"] = ""
        axis.plot(part[x], part[y], label=str(name), **look)
        if low is not None and high is not None:
            axis.fill_between(part[x], part[low], part[high], color=look["color"], alpha=0.2, lw=0)
        ends[str(name)] = (part[x].iloc[-1], part[y].iloc[-1])
    if direct:
        axis.figure.canvas.draw()
        label_ends(axis, ends)


def show_figure(
    figure: Figure, result: Result, id: str, *, caption: str, alt: str, digits: int = 4
) -> None:
    """Display a figure with its caption, alternative text and data, and close it.

    Parameters
    ----------
    figure : Figure
        What was drawn.
    result : Result
        Its `table` is the data behind the figure; setting and profile go into the caption.
    id : str
        Name of the figure: the claim's id, or one that starts with it.
    caption : str
        What to see.
    alt : str
        The finding, for those who cannot see the picture.
    digits : int, default 4
        Significant digits of the data that go with it.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    # 256 colours look the same and keep stored notebooks a third of the size.
    picture = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(256).save(picture, format="png", optimize=True)
    drawn = _digest(figure)
    plt.close(figure)
    details = f"{result.setting}; {result.profile} profile" if result.setting else result.profile
    about = {
        "id": id,
        "alt": alt,
        "caption": f"{caption} ({details}.)",
        "csv": to_csv(result.table, digits),
    }
    display(
        {
            "image/png": picture.getvalue(),
            "text/plain": f"<figure {id}: drawn {drawn}>",
            "application/vnd.ldpkv.figure+json": about,
        },
        raw=True,
        metadata={"image/png": {"alt": alt, "width": int(figure.get_figwidth() * DPI / 2)}},
    )


def show_table(
    table: pd.DataFrame,
    id: str,
    *,
    caption: str,
    digits: int = 3,
    data: pd.DataFrame | None = None,
    code: str | None = None,
) -> None:
    """Display a table: plain HTML, numbers right-aligned and rounded.

    Parameters
    ----------
    table : DataFrame
        At most seven columns; the index is not shown.
    id : str
        Name of the table.
    caption : str
        What to see.
    digits : int, default 3
        Significant digits.
    data : DataFrame, optional
        What the CSV link gives; `table` by default.
    code : str, optional
        A column that holds code: its long words may break after punctuation.
    """
    if table.shape[1] > 7:
        raise ValueError(f"table must have at most 7 columns, got {table.shape[1]}")
    numeric = [pd.api.types.is_numeric_dtype(table[name]) for name in table]
    # A column of settings such as 0.1, 1, 2 keeps its short form.
    plain = [
        right and bool(_is_short(table[name])) for name, right in zip(table, numeric, strict=True)
    ]
    cells = [
        [
            _cell(value, digits, short) if right else html.escape(str(value))
            for value, right, short in zip(row, numeric, plain, strict=True)
        ]
        for row in table.itertuples(index=False)
    ]
    side = ["num" if right else "word" for right in numeric]
    head = "".join(
        f'<th scope="col" class="{where}">{html.escape(str(name))}</th>'
        for name, where in zip(table, side, strict=True)
    )
    breaks = [name == code for name in table]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{c}">{re.sub(r"(?<=[(._=,/])(?=[^ <])", "<wbr>", v) if b else v}</td>'
            for v, c, b in zip(row, side, breaks, strict=True)
        )
        + "</tr>"
        for row in cells
    )
    markup = (
        f'<div class="ldpkv-table"><table><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    lines = "\n".join([" | ".join(map(str, table)), *(" | ".join(row) for row in cells)])
    csv = to_csv(table if data is None else data, 4)
    about = {"id": id, "caption": caption, "csv": csv}
    display(
        {
            "text/html": markup,
            "text/plain": lines,
            "application/vnd.ldpkv.table+json": about,
        },
        raw=True,
    )


def glue(**numbers: float | str) -> None:
    """Hand numbers to the prose of the book, rounded to what is stable across machines.

    Parameters
    ----------
    **numbers : float, int or str
        Name -> value; text in the book refers to it by name.
    """
    from myst_nb import glue as hand_over

    for name, value in numbers.items():
        kept = value
        if not isinstance(value, str | int):
            kept = float(f"{float(value):.5e}")
        hand_over(name, kept, display=False)


def to_csv(table: pd.DataFrame, digits: int = 4) -> str:
    """Write a table as CSV with floats rounded to `digits` significant digits."""
    rounded = table.copy()
    for name in rounded.select_dtypes("floating"):
        rounded[name] = [_round(value, digits) for value in rounded[name]]
    return rounded.to_csv(index=False)


def _round(value: float, digits: int) -> str:
    return "" if pd.isna(value) else f"{float(f'{value:.{digits - 1}e}') + 0.0:.{digits}g}"


def _is_short(column: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(column):
        return False
    return bool(((column * 10 == (column * 10).round()) & (column.abs() < 100)).all())


def _cell(value: Any, digits: int, plain: bool = False) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if plain:
        return f"{value:g}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return num(value, digits)


def _digest(figure: Figure) -> str:
    """Fingerprint of what is drawn: every line, band and mesh, to three significant digits."""
    words = []
    for axis in figure.axes:
        words.append(f"{axis.get_xlabel()}|{axis.get_ylabel()}|{axis.get_xscale()}")
        drawn: Sequence[Any] = [line.get_xydata() for line in axis.get_lines()]
        for band in axis.collections:
            paths = [path.vertices for path in band.get_paths()]
            values = band.get_array()
            drawn = [*drawn, *paths, *([] if values is None else [np.ravel(values)])]
        for patch in axis.patches:
            path = patch.get_path().transformed(patch.get_patch_transform())
            drawn = [*drawn, path.vertices]
        for part in drawn:
            flat: NDArray[Any] = np.ma.filled(np.ma.asarray(part, dtype=float), np.nan).ravel()
            words.append(" ".join(f"{value + 0.0:.2e}" for value in flat))
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]
