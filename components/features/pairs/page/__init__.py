"""The parts of the Pairs page, by what they hold."""
