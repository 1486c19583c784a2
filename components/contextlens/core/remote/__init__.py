"""A service on another machine: its client, and the format in which values travel.

Importing this package does not import the client's libraries; its modules do.
"""
