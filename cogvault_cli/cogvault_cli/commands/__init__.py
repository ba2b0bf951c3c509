"""One module a command, each with a click command called ``command``; imported only when that command runs."""
