"""An adapter's life: checked and built from its settings, opened, reloaded and closed."""
