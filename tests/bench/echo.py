"""Work of a solver process that only says that it is there. Few imports: the process loads this module."""

from __future__ import annotations

from multiprocessing.connection import Connection


def echo(connection: Connection, subject: object, options: object) -> None:
    """Sends back what it was given."""
    connection.send(subject)
