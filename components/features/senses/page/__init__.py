"""The parts of the Senses page, by what they hold."""
