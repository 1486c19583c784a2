"""Access control: sign-in, roles, and the guard that checks permissions."""
