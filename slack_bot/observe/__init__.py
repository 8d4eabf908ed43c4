"""What can be seen from outside: facts and who listens to them."""
