"""The entry-point registry: what is installed, what of it works, and what is chosen."""
