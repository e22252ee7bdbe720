"""JSON schemas of the project's files, for editors: generated from the models that read them.

`python -m core.json_schemas` writes them to `resources/schemas/`.
"""

from __future__ import annotations

import json

from pydantic import BaseModel

from core.export.cuda.case import CaseDocument
from core.files import write_atomically
from core.graph.schema import GraphDocument
from core.machine.schema import MachineDocument
from core.project.schema import ProjectDocument
from core.resources import data_folder
from core.schedule.schema import ScheduleDocument

DOCUMENTS: dict[str, type[BaseModel]] = {
    "twill.case-1.schema.json": CaseDocument,
    "twill.graph-1.schema.json": GraphDocument,
    "twill.machine-1.schema.json": MachineDocument,
    "twill.project-1.schema.json": ProjectDocument,
    "twill.schedule-1.schema.json": ScheduleDocument,
}


def json_schema(document: type[BaseModel]) -> str:
    """The JSON schema of a document, as text."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document.model_json_schema(by_alias=True)}
    return json.dumps(schema, indent=2) + "\n"


def main() -> None:
    """Writes all of them."""
    for name, document in DOCUMENTS.items():
        write_atomically(data_folder("resources") / "schemas" / name, json_schema(document))


if __name__ == "__main__":
    main()
