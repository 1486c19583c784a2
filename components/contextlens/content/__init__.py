"""Texts that ship with the app: explanations, examples, sentences; imports nothing of ours."""
