"""Several agents behind one app: which one a question is for, and the words that choose among them."""
