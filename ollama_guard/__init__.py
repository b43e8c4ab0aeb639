"""A proxy between a client and Ollama that never lets a degenerate generation through."""

__version__ = "0.1.0"
