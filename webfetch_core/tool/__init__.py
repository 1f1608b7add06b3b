"""Tools for agents: schemas, converters to each vendor's form, and the boundary that never raises.

The names are on the face (``from webfetch_core import ToolBox``). Nothing is imported here: a server that
lists its tools needs the schemas at once, and the rest when the first call comes.
"""
