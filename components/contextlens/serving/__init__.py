"""A service for other machines: an HTTP API around any `EncoderService`, and its Ray deployment."""
