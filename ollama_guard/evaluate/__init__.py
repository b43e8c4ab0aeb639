"""Offline judgement of the detectors: labelled runs and healthy files, played chunk by chunk, and counted.

Nothing here is part of the proxy but `custom`, which reads a policy written by the user.
"""
