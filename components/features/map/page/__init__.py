"""The parts of the Map page, by what they hold."""
