"""What builds, reads and models cost, measured as ratios: ``make bench DATA=folder``.

Belongs here: measuring alone. Nothing here is part of the package, and nothing in the package
knows of it.
"""
