"""`python -m ollama_guard` is the command `ollama-guard`."""

from ollama_guard.cli import main

if __name__ == "__main__":
    main()
