"""A service on another machine: its client, and the form in which values travel.

Importing this does not import the client's libraries: take what is needed from its modules.
"""
