"""The package's first name, for notebooks that still import `components.core`; not in the wheel."""

import sys

import contextlens

sys.modules[__name__] = contextlens
