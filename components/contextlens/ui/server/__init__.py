"""The server around all pages: its document, checks of hosts and health, logs, start and end."""
