"""What is held in registers, shared memory and tensor memory over time."""

from twill_gui.views.liveness.view import LivenessView

__all__ = ["LivenessView"]
