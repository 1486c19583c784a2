"""A service for other machines: the HTTP API around any `EncoderService`, and its way onto Ray."""
