"""The webfetch cache as one LMDB file."""
