"""The modulo reservation table."""

from twill_gui.views.reservation.view import ReservationView

__all__ = ["ReservationView"]
