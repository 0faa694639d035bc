"""A nodeset whose simulator is not installed."""

import no_such_simulator  # noqa: F401
