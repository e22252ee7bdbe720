"""The CUDA dock."""

from twill_gui.views.cuda_text.view import CudaTextView

__all__ = ["CudaTextView"]
