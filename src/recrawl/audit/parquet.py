"""Parquet -> fetches, a batch of a row group at a time (pyarrow)."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from recrawl.audit.account import Account, DamageError, LogError, optional
from recrawl.audit.rows import Row, RowError
from recrawl.audit.tables import SAMPLE, Cells, fetched, settle

MAGIC = b"PAR1"
BATCH = 2048  # rows
BUFFER = 1 << 20  # bytes of a column that are read at a time
_PARTS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # of a second


def read(account: Account, path: Path, stream: io.BufferedReader) -> Iterator[tuple[int, Row]]:
    """The fetches of a file, numbered by row. Only the columns that are needed are read.

    A row group that is damaged is a bad row; the others are read. Raises LogError for a file
    whose end, where Parquet keeps its index, is missing or broken.
    """
    arrow = optional("pyarrow", f"{path} is Parquet")
    parquet = optional("pyarrow.parquet", f"{path} is Parquet")
    errors = (arrow.ArrowException, OSError, ValueError)
    with ExitStack() as stack:
        try:
            source = _seekable(path, stream, stack)
            file = parquet.ParquetFile(source, pre_buffer=False, buffer_size=BUFFER)
            names = list(file.schema_arrow.names)
        except (DamageError, *errors) as error:
            why = _why(error)
            raise LogError(f"{path}: no whole Parquet file, is it cut off? {why}") from None
        try:
            sample = _sample(file)
        except errors:
            sample = []
        known = settle(account, path, names, sample)
        needed = {column.partition(".")[0] for column in known.at.values()} | set(
            known.at.values()
        )
        wanted = None if known.summed else [n for n in names if n in needed]
        yield from fetched(account, path, known, _rows(file, wanted))


def _why(error: Exception) -> str:
    """Its first line. An error of the disk is raised, not told."""
    if isinstance(error, OSError) and error.errno:
        raise error
    return str(error).partition("\n")[0][:200]


def _seekable(path: Path, stream: io.BufferedReader, stack: ExitStack) -> IO[bytes]:
    """The file itself, or the stream in a temporary file: Parquet is read from its end."""
    if path.is_file():
        file = stack.enter_context(path.open("rb"))
        if file.read(len(MAGIC)) == MAGIC:
            return file
    copy: IO[bytes] = stack.enter_context(TemporaryFile())  # noqa: SIM115 - the stack does
    shutil.copyfileobj(stream, copy)
    return copy


def _sample(file: Any) -> list[Mapping[str, Any]]:
    batch = next(file.iter_batches(SAMPLE), None)
    return [] if batch is None else list(_cells(batch))


def _rows(file: Any, wanted: list[str] | None) -> Cells:
    number, errors = 0, (optional("pyarrow", "").ArrowException, OSError, ValueError)
    for group in range(file.metadata.num_row_groups):
        end = number + file.metadata.row_group(group).num_rows
        try:
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=wanted):
                for cells in _cells(batch):
                    number += 1
                    yield number, cells
        except errors as error:
            yield number + 1, RowError(f"the row group is damaged: {_why(error)}")
        number = end


def _cells(batch: Any) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    columns = [_values(column) for column in batch.columns]
    return (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))


def _values(column: Any) -> Sequence[Any]:
    """A column as Python values; timestamps of any unit as epoch seconds."""
    types = optional("pyarrow.types", "")
    if types.is_dictionary(column.type):
        return _values(column.dictionary_decode())
    if types.is_timestamp(column.type):
        parts, whole = _PARTS[column.type.unit], column.cast("int64").to_pylist()
        return [None if x is None else x / parts for x in whole]
    values: Sequence[Any] = column.to_pylist()
    return values
