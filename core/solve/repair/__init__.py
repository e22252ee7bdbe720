"""Repair: the legal schedule nearest to one that was changed by hand, with what was placed by hand kept there."""
