"""Who may do what here: sign-in, roles, and the guard at the doors where things are done."""
