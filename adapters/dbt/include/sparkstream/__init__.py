"""Folder in which dbt finds the macros of the adapter."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
