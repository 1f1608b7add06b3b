"""One module an area: ``run(case, tmp_path)`` runs a case's input and says what it saw."""
