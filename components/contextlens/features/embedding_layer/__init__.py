"""All that the page `embedding_layer` alone needs."""
