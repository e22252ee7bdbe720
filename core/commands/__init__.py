"""One module per command of `twill`: what it answers, as a JSON document and as text for people."""
