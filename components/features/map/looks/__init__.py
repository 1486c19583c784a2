"""What stands beside a map: how far it can be trusted, one point, and what is selected."""
